// Attention of a sequence to itself, with one head: it compares each token's query with the tokens' keys, and averages
// their values with the softmax of the scores.
#pragma once

#include <concepts>

#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/reduce/softmax.h"
#include "nn/attention/scores.h"

namespace inkling::nn {

// Without parameters: softmax(x x^T) x, x (..., L, d). Similar tokens look at each other.
template <class T>
AttentionOutput<T> simple_self_attention(const Tensor<T>& x) {
    check(x.rank() >= 2, "simple_self_attention: expected x (..., L, d), got shape {}", x.shape());
    const Tensor<T> scores = matmul(x, transpose(x, -2, -1));  // (..., L, L)
    const Tensor<T> weights = softmax(scores, {}, Masked::error, "simple_self_attention");
    return {matmul(weights, x), weights};
}

// softmax(q k^T / sqrt(d_k)) v with q = W_query x, k = W_key x, v = W_value x.
template <class T>
class SelfAttention : public Module<T> {
  public:
    SelfAttention(Generator& random, std::size_t d_in, std::size_t d_out)
        : SelfAttention(random, d_in, d_out, d_out, false) {}
    // Only a bool is a bias here: a number is the width d_v of the constructor below.
    SelfAttention(Generator& random, std::size_t d_in, std::size_t d_out, std::same_as<bool> auto qkv_bias)
        : SelfAttention(random, d_in, d_out, d_out, qkv_bias) {}
    SelfAttention(Generator& random, std::size_t d_model, std::size_t d_k, std::size_t d_v, bool bias = true)
        : W_query(random, d_model, d_k, bias), W_key(random, d_model, d_k, bias), W_value(random, d_model, d_v, bias) {}

    // x (..., L, d_in) -> output (..., L, d_v), weights (..., L, L). The mask broadcasts to (..., L, L), 0 = blocked.
    AttentionOutput<T> forward(const Tensor<T>& x, const MaskArray& mask = {}) const {
        check(x.rank() >= 2 && x.dim(-1) == W_query.weight.dim(1),
              "SelfAttention: expected x (..., L, {}), got shape {}", W_query.weight.dim(1), x.shape());
        const Tensor<T> weights = softmax(scores(x), mask, masked, "SelfAttention");
        return {matmul(weights, W_value.forward(x)), weights};
    }
    // q k^T / sqrt(d_k): (..., L, L).
    Tensor<T> scores(const Tensor<T>& x) const { return scaled_scores(W_query.forward(x), W_key.forward(x)); }
    void visit(const Visitor<T>& v) override {
        v("W_query", W_query);
        v("W_key", W_key);
        v("W_value", W_value);
    }

    Linear<T> W_query, W_key, W_value;
    Masked masked = Masked::error;  // result for a fully masked query
};

// Causal attention: a token sees itself and the tokens before it, so that a language model cannot look at the answer.
// Both ways give the same weights, up to rounding.
enum class CausalMask {
    fill_minus_infinity,  // scores above the diagonal become -inf before softmax
    // softmax first; then zeros above the diagonal, and each row is divided by its sum. An error if nothing is left of
    // a row, because hidden scores exceed all visible ones by more than exp() can hold.
    renormalize,
};

// The weights of causal attention by scores (..., L, L).
template <class T>
Tensor<T> causal_weights(const Tensor<T>& scores, CausalMask how) {
    const std::size_t L = scores.dim(-1);
    if (how == CausalMask::fill_minus_infinity) {
        return softmax(scores, look_ahead_mask(L, L).reshaped({L, L}), Masked::error, "CausalAttention");
    }
    const Tensor<T> lower = tril(softmax(scores)), left = sum(lower, {-1}, true);  // (..., L, L), (..., L, 1)
    for (std::size_t i = 0; i < left.size(); ++i) {
        check(
            left.value().data()[i] != 0,
            "CausalAttention: renormalize needs a weight above 0 among what a token may see, got none for token {} of "
            "scores {}: hidden scores are too large, use fill_minus_infinity",
            i % L, scores.shape());
    }
    return div(lower, left);
}

template <class T>
class CausalAttention : public SelfAttention<T> {
  public:
    CausalAttention(Generator& random, std::size_t d_in, std::size_t d_out, std::size_t context_length,
                    double dropout_p, bool qkv_bias = false, CausalMask how = CausalMask::fill_minus_infinity)
        : SelfAttention<T>(random, d_in, d_out, qkv_bias), dropout(dropout_p), context(context_length), mask(how) {}

    // x (..., L, d_in) with L <= context_length -> output (..., L, d_out), weights (..., L, L) before dropout.
    AttentionOutput<T> forward(const Tensor<T>& x, Generator* random = nullptr) const {
        const std::size_t d_in = this->W_query.weight.dim(1);
        check(x.rank() >= 2 && x.dim(-1) == d_in && x.dim(-2) <= context,
              "CausalAttention: expected x (..., L, {}) with L of at most {}, got shape {}", d_in, context, x.shape());
        const Tensor<T> weights = causal_weights(this->scores(x), mask);
        return {matmul(dropout.forward(weights, random), this->W_value.forward(x)), weights};
    }
    void visit(const Visitor<T>& v) override {
        SelfAttention<T>::visit(v);
        v("dropout", dropout);
        v.buffer("mask");
    }

    Dropout<T> dropout;
    std::size_t context;
    CausalMask mask;
};

}  // namespace inkling::nn
