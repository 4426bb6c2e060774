// Scaled dot-product attention: softmax(q k^T / sqrt(d)) v (Vaswani et al. 2017).
#pragma once

#include "engine/fused/attention.h"
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
                                                NeedWeights wanted = NeedWeights::yes) {
    check(q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && q.dim(0) == k.dim(0) && k.dim(0) == v.dim(0) &&
              k.dim(1) == v.dim(1) && q.dim(3) == k.dim(3) && k.dim(2) == v.dim(2),
          "scaled_dot_product_attention: expected q (B, H, Lq, d), k (B, K, Lk, d) and v (B, K, Lk, dv), got {}, "
          "{} and {}",
          q.shape(), k.shape(), v.shape());
    const std::size_t H = q.dim(1), K = k.dim(1);
    check(H == K || (K > 0 && H > 0 && H % K == 0),
          "scaled_dot_product_attention: expected query heads to be a multiple of key and value heads, got "
          "{} for {}: {}, {} and {}",
          H, K, q.shape(), k.shape(), v.shape());
    if (wanted == NeedWeights::no) return {attention(q, k, v, options), {}};
    return plain::attention(q, k, v, options);
}

}  // namespace inkling::nn
