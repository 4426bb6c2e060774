#include "nn/attention/self_attention.h"

#include "engine/ops.h"
#include "nn/attention/masks.h"
#include "nn/attention/scores.h"

namespace inkling::nn {

template <class T>
AttentionOutput<T> simple_self_attention(const Tensor<T>& x) {
    check(x.rank() >= 2, "simple_self_attention: x (..., L, d) is required, got shape {}", x.shape());
    const Tensor<T> scores = matmul(x, transpose(x, -2, -1));  // (..., L, L)
    const Tensor<T> weights = softmax(scores, {}, Masked::error, "simple_self_attention");
    return {matmul(weights, x), weights};
}

template <class T>
SelfAttention<T>::SelfAttention(Generator& random, std::size_t d_model, std::size_t d_k, std::size_t d_v, bool bias)
    : W_query(random, d_model, d_k, bias), W_key(random, d_model, d_k, bias), W_value(random, d_model, d_v, bias) {}

template <class T>
AttentionOutput<T> SelfAttention<T>::forward(const Tensor<T>& x, const MaskArray& mask) const {
    check(x.rank() >= 2 && x.dim(-1) == W_query.weight.dim(1),
          "SelfAttention: x (..., L, {}) is required, got shape {}", W_query.weight.dim(1), x.shape());
    const Tensor<T> scores = scaled_scores(W_query.forward(x), W_key.forward(x));  // (..., L, L)
    const Tensor<T> weights = softmax(scores, mask, masked, "SelfAttention");
    return {matmul(weights, W_value.forward(x)), weights};
}

namespace {

template <class T>
Tensor<T> causal_weights(const Tensor<T>& scores, CausalMask how) {  // (..., L, L)
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

}  // namespace

template <class T>
CausalAttention<T>::CausalAttention(Generator& random, std::size_t d_in, std::size_t d_out, std::size_t context_length,
                                    double dropout_p, bool qkv_bias, CausalMask how)
    : W_query(random, d_in, d_out, qkv_bias),
      W_key(random, d_in, d_out, qkv_bias),
      W_value(random, d_in, d_out, qkv_bias),
      dropout(dropout_p),
      context(context_length),
      mask(how) {}

template <class T>
AttentionOutput<T> CausalAttention<T>::forward(const Tensor<T>& x, Generator* random) const {
    check(x.rank() >= 2 && x.dim(-1) == W_query.weight.dim(1) && x.dim(-2) <= context,
          "CausalAttention: x (..., L, {}) with L of at most {} is required, got shape {}", W_query.weight.dim(1),
          context, x.shape());
    const Tensor<T> weights = causal_weights(scaled_scores(W_query.forward(x), W_key.forward(x)), mask);
    return {matmul(dropout.forward(weights, random), W_value.forward(x)), weights};
}

template AttentionOutput<float> simple_self_attention(const Tensor<float>&);
template AttentionOutput<double> simple_self_attention(const Tensor<double>&);
template class SelfAttention<float>;
template class SelfAttention<double>;
template class CausalAttention<float>;
template class CausalAttention<double>;

}  // namespace inkling::nn
