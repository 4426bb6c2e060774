// add_low_rank against two linear layers and a sum: in the layer's own memory or not, in both precisions.
#include "engine/fused/low_rank.h"

const auto low_rank = [](const auto& in) { return add_low_rank(in[0], in[1], in[2], in[3], 0.5); };

TEST_CASE("add_low_rank: works in y's memory where nobody has it, and a large input comes again", "[engine]") {
    const Tensor<float> x(random_array<float>({6, 4}, 1)), w(random_array<float>({5, 4}, 2)),
        a(random_array<float>({2, 4}, 3)), b(random_array<float>({5, 2}, 4));
    Tensor<float> y = linear(x, w);
    const float* const place = y.value().data();
    const Array<float> before = y.value().clone();
    const Tensor<float> shared = add_low_rank(y, x, a, b, 2);
    CHECK_ALL(shared.value().data() != place, same_bits(y.value(), before));
    const Tensor<float> own = add_low_rank(std::move(y), x, a, b, 2);
    CHECK_ALL(own.value().data() == place, same_bits(own.value(), shared.value()));
    // does not write to an output that its own backward needs
    const auto saved = [](const Inputs& in) { return add_low_rank(tanh(in[0]), in[1], in[2], in[3], 0.7); };
    CHECK(gradient_error(saved, {normal({3, 5}, 1), normal({3, 4}, 2), normal({2, 4}, 3), normal({5, 2}, 4)}) < 1e-8);
    const auto behind = [](const auto& in) {
        return add_low_rank(in[0], squared_relu(in[1] * 1.0), in[2], in[3], 0.5);
    };
    const auto kept = [](const auto& in) {
        const auto squares = squared_relu(in[1] * 1.0);
        return add_low_rank(in[0], reshape(squares, squares.shape()), in[2], in[3], 0.5);
    };
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const WithPrecision scope(precision);
        const std::vector<Array<float>> at = {random_array<float>({600, 3}, 1), random_array<float>({600, 900}, 2),
                                              random_array<float>({2, 900}, 3), random_array<float>({3, 2}, 4)};
        const auto again = run<float>(behind, at), once = run<float>(kept, at);
        CHECK(same_bits(again.value, once.value));
        for (std::size_t i = 0; i < 4; ++i)  // in bfloat16 it is computed again from a rounded input
            check_close(again.grads[i], once.grads[i], precision == Precision::fp32 ? 0 : 0.03);
    }
}

TEST_CASE("add_low_rank: bfloat16 rounds operands, not sums", "[engine]") {
    const std::vector<Array<float>> at = {random_array<float>({9, 17}, 1), random_array<float>({9, 33}, 2),
                                          random_array<float>({4, 33}, 3), random_array<float>({17, 4}, 4)};
    const auto full = run<float>(low_rank, at);
    const WithPrecision scope(Precision::bf16);
    const auto half = run<float>(low_rank, at);
    CHECK_FALSE(same_bits(half.value, full.value));
    check_close(half.value, full.value, 0.03);
    for (std::size_t i = 1; i < 4; ++i) check_close(half.grads[i], full.grads[i], 0.15);
    CHECK(same_bits(half.grads[0], full.grads[0]));
}

TEST_CASE("add_low_rank: mismatched shapes are refused, float agrees with double, with any threads", "[engine]") {
    const auto zeros = [](const Shape& shape) { return Tensor<double>(Array<double>(shape, 0.0)); };
    const auto refused = [&](const Shape& y, const Shape& x, const Shape& a, const Shape& b) {
        CHECK_THROWS_WITH(add_low_rank(zeros(y), zeros(x), zeros(a), zeros(b), 1),
                          contains("add_low_rank: expected y (..., out), x (..., in), A (r, in) and B (out, r)",
                                   to_string(y), to_string(b)));
    };
    refused({2, 5}, {2, 4}, {3, 5}, {5, 3}), refused({2, 5}, {2, 4}, {3, 4}, {5, 2});
    refused({2, 4}, {2, 4}, {3, 4}, {5, 3}), refused({3, 5}, {2, 4}, {3, 4}, {5, 3});
    refused({2, 5}, {2, 4}, {4}, {5, 3}), refused({2, 5}, {2, 4}, {3, 4}, {5});
    for (std::size_t i = 0; i < kRagged.size(); ++i) {
        const std::size_t rows = kRagged[i], in = kRagged[(i * 4 + 3) % 15], out = kRagged[(i * 7 + 5) % 15];
        check_float_against_double(low_rank, {{rows, out}, {rows, in}, {3, in}, {out, 3}});
    }
    check_same_with_any_threads("add_low_rank", [] {
        return all_of(run<float>(low_rank, {random_array<float>({768, 129}, 1), random_array<float>({768, 384}, 2),
                                            random_array<float>({16, 384}, 3), random_array<float>({129, 16}, 4)}));
    });
}
