// The heart of attention: softmax(q k^T / sqrt(d)) v (Vaswani et al. 2017).
#pragma once

#include "engine/autograd/tensor.h"
#include "engine/ops/attention.h"

namespace inkling::nn {

// What every attention mechanism gives back.
template <class T>
struct AttentionOutput {
    Tensor<T> output;
    Tensor<T> weights;  // (..., Lq, Lk), how much query i looks at key j: rows sum to 1
};

// Whether the attention weights are returned beside the output. Without them the fused op does the work, and the
// (Lq, Lk) matrix is never built.
enum class NeedWeights { no, yes };

// q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, Lk, dv) -> output (B, H, Lq, dv) and, when wanted, weights (B, H, Lq, Lk)
// before dropout, with exactly 0 in blocked places. H / K heads of queries share one of keys and values.
template <class T>
AttentionOutput<T> scaled_dot_product_attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                                                const AttentionOptions& options = {},
                                                NeedWeights wanted = NeedWeights::yes);

}  // namespace inkling::nn
