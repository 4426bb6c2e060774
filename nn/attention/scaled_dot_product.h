// The heart of attention: softmax(q k^T / sqrt(d)) v (Vaswani et al. 2017).
#pragma once

#include <optional>
#include <vector>

#include "engine/ops/softmax.h"
#include "engine/random.h"
#include "nn/attention/attention_output.h"

namespace inkling::nn {

struct AttentionOptions {
    bool causal = false;         // a query sees its own position and those before; the last query is the last key's
    MaskArray mask = {};         // broadcasts to (B, H, Lq, Lk); 0 = blocked; undefined: nothing is blocked
    double dropout = 0;          // of the weights
    RandomKey dropout_key = {};  // which mask
    std::optional<double> scale = std::nullopt;  // of the scores; none: 1 / sqrt(d)
    std::vector<double> alibi = {};  // a slope a head: the score of query i and key j falls by slope (i - j), or empty
    // The weights of a query whose every key the mask blocks: an error, 1 / Lk for each of all keys, or zeros.
    Masked masked = Masked::error;
    IdArray begins = {};  // (B, L), of causal self-attention without a mask: where the document of a position begins

    // Sets dropout, with a key of `random`, which must be there unless nothing is dropped; `layer` is named if not.
    void drop(const char* layer, double probability, Generator* random);
};

// Whether the attention weights are wanted beside the output. Without them the fused op does the work, and the (Lq, Lk)
// matrix is never built.
enum class Weights { none, keep };

// q (B, H, Lq, d), k (B, H, Lk, d), v (B, H, Lk, dv) -> output (B, H, Lq, dv) and, when wanted, weights (B, H, Lq, Lk)
// before dropout, with exactly 0 in blocked places.
template <class T>
AttentionOutput<T> scaled_dot_product_attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                                                const AttentionOptions& options = {}, Weights wanted = Weights::keep);

}  // namespace inkling::nn
