// Options, masks and biases of attention. A mask is 1 where a query may look.
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

// (1, 1, queries, keys): a query sees its own position and earlier ones. The last query is at the last key's position.
MaskArray look_ahead_mask(std::size_t queries, std::size_t keys);

// (queries, keys): a query sees its own position and the window - 1 before it. The last query is at the last key's
// position.
MaskArray window_mask(std::size_t queries, std::size_t keys, std::size_t window);

// (B, 1, L, L) for documents that begin at begins (B, L): a query sees its own position and earlier ones in its
// document.
MaskArray document_mask(const IdArray& begins);

// (1, H, queries, keys), to add to the scores before softmax: -slope (i - j) with one slope per head, for query i at
// the position of key i + keys - queries. Combine it with a causal mask, which blocks the future.
template <class T>
Array<T> alibi_bias(const std::vector<double>& slopes, std::size_t queries, std::size_t keys);

}  // namespace inkling
