#include "nn/attention/self_attention.h"

#include "engine/ops/matmul.h"
#include "engine/ops/shape.h"
#include "engine/ops/softmax.h"

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

template AttentionOutput<float> simple_self_attention(const Tensor<float>&);
template AttentionOutput<double> simple_self_attention(const Tensor<double>&);
template class SelfAttention<float>;
template class SelfAttention<double>;

}  // namespace inkling::nn
