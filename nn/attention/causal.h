// Causal attention: a token sees itself and what is before it, so that a language model cannot look at the answer.
#pragma once

#include "nn/attention/attention_output.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace inkling::nn {

// Two ways to the same weights, up to rounding.
enum class CausalMask {
    fill_minus_infinity,  // scores above the diagonal become -inf before softmax
    // softmax first; then what is above the diagonal is cut off and each row divided by its sum. An error where nothing
    // is left of a row: hidden scores that exceed all visible ones by more than exp() can hold.
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

extern template class CausalAttention<float>;
extern template class CausalAttention<double>;

}  // namespace inkling::nn
