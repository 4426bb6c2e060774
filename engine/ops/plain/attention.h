// Attention as its formula says. engine/fused/attention.h has the same function, in blocks.
#pragma once

#include "engine/ops/plain/attention_masks.h"

namespace inkling {

// The result of every attention mechanism.
template <class T>
struct AttentionOutput {
    Tensor<T> output;
    Tensor<T> weights;  // (..., Lq, Lk): the weight of key j for query i; rows sum to 1
};

namespace plain {

// softmax(scale q k^T) v for q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, Lk, dv): (B, H, Lq, dv), and the weights
// (B, H, Lq, Lk) before dropout. Each key/value head serves H / K consecutive query heads (Ainslie et al. 2023).
template <class T>
AttentionOutput<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                             const AttentionOptions& options);

}  // namespace plain
}  // namespace inkling
