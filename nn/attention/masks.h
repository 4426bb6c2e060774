// Masks of attention, the softmax over lengths, and ALiBi's biases.
// A mask is 1 where a query may look and 0 where it may not, and broadcasts to (B, H, Lq, Lk). Only causal_mask
// (engine/ops/mask.h) is 1 where a query may not look: it is for masked_fill, which fills there.
#pragma once

#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling::nn {

// (B, 1, 1, keys): sequence b has lengths[b] real keys; the rest is padding.
MaskArray padding_mask(const std::vector<std::size_t>& lengths, std::size_t keys);

// (1, 1, queries, keys): a query sees its own position and those before. The last query is at the last key's position.
MaskArray look_ahead_mask(std::size_t queries, std::size_t keys);

// (queries, keys): a query sees its own position and the window - 1 before it. The last query is at the last key.
MaskArray window_mask(std::size_t queries, std::size_t keys, std::size_t window);

// (B, 1, L, L) for documents that begin at begins (B, L): a query sees its own position and those before it in its
// document.
MaskArray document_mask(const IdArray& begins);

// The number of real keys per sequence (B) or per query (B, Lq). Undefined: all keys are real.
using ValidLengths = Array<std::int32_t>;

// x (B, Lq, Lk) with `value` from the valid length on. Throws for a length below 0 or beyond Lk.
template <class T>
Tensor<T> sequence_mask(const Tensor<T>& x, const ValidLengths& valid_lens, double value = 0);

// Softmax over the last axis of x (B, Lq, Lk), with -1e6 in place of scores beyond the valid length: their weight
// rounds to 0, and a row without any valid key is uniform.
template <class T>
Tensor<T> masked_softmax(const Tensor<T>& x, const ValidLengths& valid_lens = {});

// The slopes of ALiBi (Press et al. 2022), which adds no positions to the tokens: each head's score falls with the
// distance between query and key, by slope (i - j).
// For H heads, 2^(-8 i / H), i = 1 .. H, if H is a power of two; else those of the largest power P below H, then every
// second one of those of 2 P.
std::vector<double> alibi_slopes(std::size_t heads);

// (1, H, queries, keys), to add to the scores before softmax: -slope (i - j) with one slope per head, for query i at
// the position of key i + keys - queries. Combine it with a causal mask, which blocks the future.
template <class T>
Array<T> alibi_bias(const std::vector<double>& slopes, std::size_t queries, std::size_t keys);

}  // namespace inkling::nn
