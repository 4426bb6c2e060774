// Attention in one pass, for training: softmax(scale q k^T) v, without storing the (Lq, Lk) matrix. Its composed twin,
// which returns the weights too, is in composed_attention.h; a test shows that they agree.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/random.h"
#include "engine/ops/reduce/softmax.h"

namespace inkling {

// Several documents packed into one row. The constructor checks them once for all layers.
struct Documents {
    IdArray begins, positions;  // (B, L): the start of each token's document in its row, and the token's position in it

    Documents() = default;             // undefined: each row is one document
    Documents(const IdArray& begins);  // NOLINT: implicit on purpose
};

struct AttentionOptions {
    std::optional<double> scale = std::nullopt;  // scale of the scores; default 1 / sqrt(d)
    bool causal = false;                         // query i sees keys 0 .. i + Lk - Lq
    MaskArray mask = {};                         // broadcasts to (B, H, Lq, Lk); 0 blocks; undefined blocks nothing
    double dropout = 0.0;            // on the weights, with the mask of dropout() for an array (B, H, Lq, Lk)
    RandomKey dropout_key = {};      // selects that mask
    std::vector<double> alibi = {};  // one slope per head; adds -slope (i + Lk - Lq - j) to each score; empty: off
    // Result for a fully masked query: an error, uniform weights 1 / Lk, or zeros.
    Masked masked = Masked::error;
    // For causal self-attention without a mask: a query sees only its own document. Each document's output equals
    // that of the document alone, to the last bit.
    Documents documents = {};
    // For causal attention: a query sees its own key and the window - 1 before it (Beltagy et al. 2020); 0: all.
    std::size_t window = 0;

    // Sets dropout with a key from `random`. Throws, naming `layer`, if something is dropped and `random` is null.
    void drop(const char* layer, double probability, Generator* random);
};

// q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, Lk, dv) -> (B, H, Lq, dv), stored as (B, Lq, H, dv), so that merging
// the heads is a view. Each key/value head serves H / K consecutive query heads (Ainslie et al. 2023). A query whose
// scores are all -inf without a mask gives NaN.
template <class T>
Tensor<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, const AttentionOptions& options);

}  // namespace inkling
