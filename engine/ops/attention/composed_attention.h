// Attention composed of other ops, with its masks and biases. It returns the weights, its gradients have a graph, and
// tests compare the fused op with it. A mask is 1 where a query may look.
#pragma once

#include <vector>

#include "engine/autograd/tensor.h"
#include "engine/ops/attention/attention.h"

namespace inkling {

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

// The result of every attention mechanism.
template <class T>
struct AttentionOutput {
    Tensor<T> output;
    Tensor<T> weights;  // (..., Lq, Lk): the weight of key j for query i; rows sum to 1
};

// q, k and v as attention() takes them; the weights are (B, H, Lq, Lk), before dropout.
template <class T>
AttentionOutput<T> composed_attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                                      const AttentionOptions& options);

}  // namespace inkling
