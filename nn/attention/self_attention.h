// Attention of a sequence to itself, with one head: it compares each token's query with the tokens' keys, and averages
// their values with the softmax of the scores.
#pragma once

#include <concepts>

#include "engine/ops/reduce/softmax.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace inkling::nn {

// Without parameters: softmax(x x^T) x, x (..., L, d). Similar tokens look at each other.
template <class T>
AttentionOutput<T> simple_self_attention(const Tensor<T>& x);

// softmax(q k^T / sqrt(d_k)) v with q = W_query x, k = W_key x, v = W_value x.
template <class T>
class SelfAttention : public Module<T> {
  public:
    SelfAttention(Generator& random, std::size_t d_in, std::size_t d_out)
        : SelfAttention(random, d_in, d_out, d_out, false) {}
    // Only a bool is a bias here: a number is the width d_v of the constructor below.
    SelfAttention(Generator& random, std::size_t d_in, std::size_t d_out, std::same_as<bool> auto qkv_bias)
        : SelfAttention(random, d_in, d_out, d_out, qkv_bias) {}
    SelfAttention(Generator& random, std::size_t d_model, std::size_t d_k, std::size_t d_v, bool bias = true);

    // x (..., L, d_in) -> output (..., L, d_v), weights (..., L, L). The mask broadcasts to (..., L, L), 0 = blocked.
    AttentionOutput<T> forward(const Tensor<T>& x, const MaskArray& mask = {}) const;
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

template <class T>
class CausalAttention : public Module<T> {
  public:
    CausalAttention(Generator& random, std::size_t d_in, std::size_t d_out, std::size_t context_length,
                    double dropout_p, bool qkv_bias = false, CausalMask how = CausalMask::fill_minus_infinity);

    // x (..., L, d_in) with L <= context_length -> output (..., L, d_out), weights (..., L, L) before dropout.
    AttentionOutput<T> forward(const Tensor<T>& x, Generator* random = nullptr) const;
    void visit(const Visitor<T>& v) override {
        v("W_query", W_query);
        v("W_key", W_key);
        v("W_value", W_value);
        v("dropout", dropout);
        v.buffer("mask");
    }

    Linear<T> W_query, W_key, W_value;
    Dropout<T> dropout;
    std::size_t context;
    CausalMask mask;
};

extern template class SelfAttention<float>;
extern template class SelfAttention<double>;
extern template class CausalAttention<float>;
extern template class CausalAttention<double>;

}  // namespace inkling::nn
