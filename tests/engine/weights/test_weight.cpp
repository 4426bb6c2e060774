// Weights packed in bfloat16 and 8 bits: ops give the same result as with the unpacked numbers.
#include "engine/weights/weight.h"

const std::vector<WeightType> kPacked = {WeightType::bf16, WeightType::q8_0};

// The same numbers, unpacked.
template <class T>
static Tensor<T> widened(const Weight<T>& weight) {
    REQUIRE(weight.packed());
    return Tensor<T>(weight.values());
}

TEST_CASE("packed: keeps its shape, in fewer bytes, close to what it was made from", "[engine]") {
    const Tensor<float> w(random_array<float>({96, 64}, 1), true);
    for (const WeightType type : kPacked) {
        const std::size_t before = pool_statistics().bytes_in_use;
        const Weight<float> small = Weight(w).as(type);
        const std::size_t taken = pool_statistics().bytes_in_use - before;
        CHECK_ALL(small.defined(), small.packed(), !small.tensor().defined(), to_string(small.shape()) == "(96, 64)");
        CHECK(small.size() == 96 * 64);
        const std::size_t bytes = type == WeightType::bf16 ? 2 * 96 * 64 : 96 * 64 * 34 / 32;
        CHECK(small.packed()->bytes() == bytes);
        CHECK(taken <= bytes + 4096);  // the pool's sizes are rounded up
        check_close(small.values(), w.value(), 0.03);
        CHECK_FALSE(same_bits(small.values(), w.value()));
        const Weight<float> again = Weight(widened(small)).as(type);  // what has been rounded stays
        CHECK(same_bits(again.values(), small.values()));
        const Weight<float> half = Weight(w).as(WeightType::bf16);  // packed again row by row
        CHECK(same_bits(half.as(type).values(), Weight(widened(half)).as(type).values()));
        CHECK(small.detach().packed() == small.packed());
    }
    const Weight<float> plain = Weight(w).as(WeightType::fp32), ragged = Tensor<float>(random_array<float>({5, 33}, 1));
    CHECK_ALL(!plain.packed(), !plain.tensor().requires_grad(), same_bits(plain.value(), w.value()));
    CHECK_FALSE(ragged.as(WeightType::q8_0).packed());  // rows of 33 have no blocks of 32
    check_close(ragged.as(WeightType::bf16).as(WeightType::q8_0).values(), ragged.value(), 0.03);
    CHECK(same_bits(Weight(Tensor<float>::zeros({2, 32})).as(WeightType::q8_0).values(), Array<float>({2, 32}, 0.0f)));
    CHECK_THROWS_WITH(Weight(w).as(WeightType::q8_0).packed()->unpacked_rows<float>(5, 97), contains("5 to 97"));
}

TEST_CASE("packed: linear widens a part of a large matrix at a time, with the same bits", "[engine]") {
    const std::size_t out = 1100, in = 4096;
    const Weight<float> w = Weight(Tensor<float>(random_array<float>({out, in}, 1))).as(WeightType::q8_0);
    const Tensor<float> wide = widened(w);
    const std::vector<Array<float>> operands = {random_array<float>({9, in}, 2), random_array<float>({out}, 3)};
    const auto with = [&](const Weight<float>& weight) {
        return all_of(run<float>([&](const auto& x) { return linear(x[0], weight, x[1]); }, operands));
    };
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const WithPrecision scope(precision);
        const auto want = with(wide);
        release_cached_buffers();
        const std::size_t before = pool_statistics().bytes_in_use;
        const auto got = with(w);
        const PoolStatistics after = pool_statistics();
        CHECK(after.bytes_in_use + after.bytes_cached - before < out * in * sizeof(float));
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], want[i]));
    }
}

TEMPLATE_TEST_CASE("packed: linear, its loss and embedding are as widened", "[engine]", float, double) {
    const std::vector<Array<T>> in = {random_array<T>({4, 7, 64}, 2), random_array<T>({33}, 3)};  // x and a bias
    const IdArray targets = random_ids({4, 7}, 33, 1);
    for (const WeightType type : kPacked) {
        const Weight<T> w = Weight(Tensor<T>(random_array<T>({33, 64}, 1))).as(type);
        const auto check_same = [&](const auto& op) {
            const auto with = [&](const Weight<T>& weight) {
                return all_of(run<T>([&](const auto& x) { return op(x, weight); }, in));
            };
            const auto got = with(w), want = with(widened(w));
            for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], want[i]));
        };
        for (const Precision precision : {Precision::fp32, Precision::bf16}) {
            const WithPrecision scope(precision);
            check_same([](const auto& x, const auto& weight) { return linear(x[0], weight, x[1]); });
        }
        for (const std::size_t block : {0, 16})
            check_same([&](const auto& x, const auto& weight) {
                return linear_cross_entropy(x[0], weight, targets, kIgnore, block, 5.0);
            });
    }
    const IdArray ids = random_ids({3, 5}, 11, 1);
    for (const WeightType type : kPacked) {
        const Weight<T> w = Weight(Tensor<T>(random_array<T>({11, 32}, 1))).as(type);
        const Tensor<T> y = embedding(ids, w);
        CHECK_ALL(same_bits(y.value(), embedding(ids, widened(w)).value()), !y.requires_grad());
    }
}
