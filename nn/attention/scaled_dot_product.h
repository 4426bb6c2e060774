// Scaled dot-product attention: softmax(q k^T / sqrt(d)) v (Vaswani et al. 2017).
#pragma once

#include "engine/autograd/tensor.h"
#include "engine/ops/plain/attention.h"

namespace inkling::nn {

using inkling::AttentionOutput;

// Whether to return the attention weights beside the output. Without them the fused op runs, and never builds the
// (Lq, Lk) matrix.
enum class NeedWeights { no, yes };

// q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, Lk, dv) -> output (B, H, Lq, dv) and, if wanted, weights (B, H, Lq, Lk)
// before dropout, exactly 0 in blocked places. Each head of keys and values serves H / K heads of queries.
template <class T>
AttentionOutput<T> scaled_dot_product_attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                                                const AttentionOptions& options = {},
                                                NeedWeights wanted = NeedWeights::yes);

}  // namespace inkling::nn
