// Attention in one pass, for training: softmax(scale q k^T) v, without storing the (Lq, Lk) matrix. Its composed twin,
// which returns the weights too, is nn::scaled_dot_product_attention; a test shows that they agree.
#pragma once

#include <vector>

#include "engine/ops/softmax.h"
#include "engine/random.h"

namespace inkling {

struct FusedAttention {
    double scale = 1.0;
    bool causal = false;   // query i sees keys 0 .. i + Lk - Lq
    MaskArray mask = {};   // broadcasts to (B, H, Lq, Lk), 0 = blocked; undefined: nothing is blocked
    double dropout = 0.0;  // of the weights, with the mask that dropout() has for an array (B, H, Lq, Lk)
    RandomKey dropout_key = {};
    std::vector<double> alibi = {};  // one slope per head: -slope (i + Lk - Lq - j) is added to the score; else empty
    // The weights of a query for which the mask blocks every key; Masked::uniform is 1 / Lk for all keys.
    Masked masked = Masked::error;
    // (B, L), of causal self-attention, instead of a mask: where the document begins that a position is of. A query
    // sees nothing of the documents before its own, whose output is that of each alone, to the last bit; undefined: all
    // are one.
    IdArray begins = {};
};

// q (B, H, Lq, d), k (B, H, Lk, d), v (B, H, Lk, dv) -> (B, H, Lq, dv), which lies in memory as (B, Lq, H, dv), so that
// merging the heads is a view. A query whose scores are all -inf without a mask gives NaN.
template <class T>
Tensor<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, const FusedAttention& options);

}  // namespace inkling
