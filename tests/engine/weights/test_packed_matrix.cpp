// Weights packed in bfloat16 and 8 bits: ops give the same result as with the unpacked numbers.
#include "engine/weights/packed_matrix.h"

#include "engine/base/precision.h"
#include "engine/ops.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

const std::vector<WeightType> kPacked = {WeightType::bf16, WeightType::q8_0};

// The same numbers, unpacked.
template <class T>
Tensor<T> widened(const Tensor<T>& packed) {
    REQUIRE(packed.packed());
    return Tensor<T>(unpacked(packed));
}

}  // namespace

TEST_CASE("packed: keeps its shape, in fewer bytes, close to what it was made from", "[engine]") {
    const Tensor<float> w(random_array<float>({96, 64}, 1), true);
    for (const WeightType type : kPacked) {
        const std::size_t before = pool_statistics().bytes_in_use;
        const Tensor<float> small = packed(w, type);
        const std::size_t taken = pool_statistics().bytes_in_use - before;
        CHECK((small.defined() && small.packed() && !small.requires_grad()));
        CHECK(to_string(small.shape()) == "(96, 64)");
        CHECK(small.size() == 96 * 64);
        const std::size_t bytes = type == WeightType::bf16 ? 2 * 96 * 64 : 96 * 64 * 34 / 32;
        CHECK(small.packed()->bytes() == bytes);
        CHECK(taken <= bytes + 4096);  // the pool's sizes are rounded up
        check_close(unpacked(small), w.value(), 0.03);
        CHECK_FALSE(same_bits(unpacked(small), w.value()));
        const Tensor<float> again = packed(widened(small), type);  // what has been rounded stays
        CHECK(same_bits(unpacked(again), unpacked(small)));
        CHECK(small.detach().packed() == small.packed());
    }
    const Tensor<float> plain = packed(w, WeightType::fp32), ragged(random_array<float>({5, 33}, 1), true);
    CHECK((!plain.packed() && !plain.requires_grad() && same_bits(plain.value(), w.value())));
    CHECK_FALSE(packed(ragged, WeightType::q8_0).packed());  // rows of 33 have no blocks of 32
    CHECK_THROWS_WITH(packed(w, WeightType::q8_0).packed()->unpacked_rows<float>(5, 97), contains("5 to 97"));
}

TEMPLATE_TEST_CASE("packed: linear and its loss are as with the widened weight, to the last bit", "[engine]", float,
                   double) {
    using T = TestType;
    const Array<T> b = random_array<T>({33}, 3), x = random_array<T>({4, 7, 64}, 2);
    for (const WeightType type : kPacked) {
        const Tensor<T> w = packed(Tensor<T>(random_array<T>({33, 64}, 1)), type);
        for (const Precision precision : {Precision::fp32, Precision::bf16}) {
            const WithPrecision scope(precision);
            const auto with = [&](const Tensor<T>& weight) {
                return run<T>([&](const auto& in) { return linear(in[0], weight, in[1]); }, std::vector{x, b});
            };
            const auto got = with(w), want = with(widened(w));
            CHECK(same_bits(got.value, want.value));
            CHECK(same_bits(got.grads[0], want.grads[0]));
            CHECK(same_bits(got.grads[1], want.grads[1]));
        }
    }
    const Array<T> hidden = random_array<T>({6, 64}, 2);
    const IdArray targets = random_ids({6}, 70, 1);
    for (const WeightType type : kPacked) {
        const Tensor<T> w = packed(Tensor<T>(random_array<T>({70, 64}, 1)), type);
        for (const std::size_t block : {0, 32}) {
            const auto with = [&](const Tensor<T>& weight) {
                return run<T>(
                    [&](const auto& in) { return linear_cross_entropy(in[0], weight, targets, kIgnore, block, 5.0); },
                    std::vector{hidden});
            };
            const auto got = with(w), want = with(widened(w));
            CHECK(same_bits(got.value, want.value));
            CHECK(same_bits(got.grads[0], want.grads[0]));
        }
    }
}

TEMPLATE_TEST_CASE("packed: embedding looks up widened rows, and records no graph", "[engine]", float, double) {
    using T = TestType;
    const IdArray ids = random_ids({3, 5}, 11, 1);
    for (const WeightType type : kPacked) {
        const Tensor<T> w = packed(Tensor<T>(random_array<T>({11, 32}, 1)), type);
        const Tensor<T> y = embedding(ids, w);
        CHECK(same_bits(y.value(), embedding(ids, widened(w)).value()));
        CHECK_FALSE(y.requires_grad());
    }
}

TEST_CASE("packed: dx against finite differences, through a frozen weight and packed ones", "[engine]") {
    const Tensor<double> w(random_array<double>({6, 64}, 1));
    const IdArray targets = random_ids({3}, 6, 1);
    for (const WeightType type : {WeightType::fp32, WeightType::bf16, WeightType::q8_0}) {
        const Tensor<double> frozen = packed(w, type);
        const auto by_linear = [&](const Inputs& in) { return linear(in[0], frozen, in[1]); };
        const auto by_loss = [&](const Inputs& in) { return linear_cross_entropy(in[0], frozen, targets, kIgnore, 4); };
        CHECK(gradient_error(by_linear, {normal({3, 64}, 1), normal({6}, 2)}) < 1e-7);
        CHECK(gradient_error(by_loss, {normal({3, 64}, 3)}) < 1e-7);
    }
}

TEST_CASE("packed: other ops and writing refuse it, and say how to widen it", "[engine]") {
    const Tensor<float> w = packed(Tensor<float>(random_array<float>({3, 64}, 1)), WeightType::q8_0);
    CHECK_THROWS_WITH(w.value(), contains("packed in fewer bytes, as this one of shape (3, 64)"));
    CHECK_THROWS_WITH(Tensor<float>(w).value_in_place(),
                      contains("packed in fewer bytes, as this one of shape (3, 64)"));
    CHECK_THROWS_WITH(add(w, w), contains("packed in fewer bytes, as this one of shape (3, 64)"));
    CHECK_THROWS_WITH(matmul(w, transpose(w, 0, 1)), contains("packed in fewer bytes, as this one of shape (3, 64)"));
    CHECK_THROWS_WITH(sum(w), contains("packed in fewer bytes, as this one of shape (3, 64)"));
}
