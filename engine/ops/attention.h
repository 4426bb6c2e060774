// Attention in one pass, for training: softmax(scale q k^T) v, without storing the (Lq, Lk) matrix. Its composed twin,
// which returns the weights too, is nn::scaled_dot_product_attention; a test shows that they agree.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/random.h"
#include "engine/ops/softmax.h"

namespace inkling {

// Rows of several documents. Checked once, for all layers that attend to them.
struct Documents {
    IdArray begins, positions;  // (B, L): where a position's document begins in its row, and the position there

    Documents() = default;             // undefined: a row is one document
    Documents(const IdArray& begins);  // NOLINT: implicit on purpose
};

struct AttentionOptions {
    std::optional<double> scale = std::nullopt;  // of the scores; none: 1 / sqrt(d)
    bool causal = false;                         // query i sees keys 0 .. i + Lk - Lq
    MaskArray mask = {};             // broadcasts to (B, H, Lq, Lk), 0 = blocked; undefined: nothing is blocked
    double dropout = 0.0;            // of the weights, with the mask that dropout() has for an array (B, H, Lq, Lk)
    RandomKey dropout_key = {};      // which mask
    std::vector<double> alibi = {};  // one slope per head: -slope (i + Lk - Lq - j) is added to the score; else empty
    // The weights of a query for which the mask blocks every key: an error, 1 / Lk for each of all keys, or zeros.
    Masked masked = Masked::error;
    // Of causal self-attention without a mask: a query sees nothing of the documents before its own, whose output is
    // that of each alone, to the last bit.
    Documents documents = {};

    // Sets dropout, with a key of `random`, which must be there unless nothing is dropped; `layer` is named if not.
    void drop(const char* layer, double probability, Generator* random);
};

// q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, Lk, dv) -> (B, H, Lq, dv), which lies in memory as (B, Lq, H, dv), so that
// merging the heads is a view. Each head of keys and values serves H / K heads of queries, one after the other (Ainslie
// et al. 2023). A query whose scores are all -inf without a mask gives NaN.
template <class T>
Tensor<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, const AttentionOptions& options);

}  // namespace inkling
