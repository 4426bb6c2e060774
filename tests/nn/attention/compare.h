// Compares gradients of attention, some of which are 0 in exact arithmetic.
#pragma once

#include "nn/attention/scaled_dot_product.h"

namespace inkling::testing {

// Some gradients are 0 except for rounding: that of a key's bias, which adds the same to all scores of a query, so that
// softmax does not see it, and that of a query with a single key. Their errors are relative to the terms of the sum,
// which are around 1.
template <class A, class B>
void check_gradient(const A& actual, const B& expected_any, double tolerance, const std::string& what) {
    const auto expected = expected_any.contiguous();
    const bool zero = std::all_of(expected.data(), expected.data() + expected.size(),
                                  [](auto g) { return std::abs(static_cast<double>(g)) < 1e-13; });
    const Array<double> one(actual.shape(), zero ? 1.0 : 0.0);
    check_close(Array<double>(actual + one), Array<double>(expected + one), tolerance, what);
}

struct Sizes {
    std::size_t B, H, Lq, Lk, d, dv;
    std::size_t K = 0;  // heads of keys and values; 0: H
};

template <class T>
std::vector<Array<T>> random_qkv(const Sizes& s, std::uint64_t seed = 1) {
    const std::size_t K = s.K ? s.K : s.H;
    return {random_array<T>({s.B, s.H, s.Lq, s.d}, seed), random_array<T>({s.B, K, s.Lk, s.d}, seed + 1),
            random_array<T>({s.B, K, s.Lk, s.dv}, seed + 2)};
}

// Runs attention on {q, k, v}, with its gradients.
template <class T>
Computed<T> attend(const std::vector<Array<T>>& qkv, const AttentionOptions& options, nn::NeedWeights wanted) {
    return run<T>(
        [&](const auto& in) { return nn::scaled_dot_product_attention(in[0], in[1], in[2], options, wanted).output; },
        qkv);
}

}  // namespace inkling::testing
