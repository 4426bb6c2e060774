// Attention in one pass, for training: softmax(scale q k^T) v, without storing the (Lq, Lk) matrix. Its plain twin,
// which returns the weights too, is in engine/ops/plain/attention.h.
#pragma once

#include "engine/ops/plain/attention_masks.h"

namespace inkling {

// q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, Lk, dv) -> (B, H, Lq, dv), stored as (B, Lq, H, dv), so that merging
// the heads is a view. Each key/value head serves H / K consecutive query heads (Ainslie et al. 2023). A query whose
// scores are all -inf without a mask gives NaN.
template <class T>
Tensor<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, const AttentionOptions& options);

}  // namespace inkling
