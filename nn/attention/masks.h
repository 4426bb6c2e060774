// What attention may look at and from how far: masks, the softmax over lengths, and ALiBi's biases.
// Every mask of attention is 1 where a query may look and 0 where it may not, and broadcasts to (B, H, Lq, Lk).
// causal_mask (engine/ops/mask.h) alone is 1 where a query may not look: it is for masked_fill, which fills there.
#pragma once

#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling::nn {

// (B, 1, 1, keys): sequence b has lengths[b] real keys, the rest is padding.
MaskArray padding_mask(const std::vector<std::size_t>& lengths, std::size_t keys);

// (1, 1, queries, keys): a query sees its own position and those before; the last query is the last key's.
MaskArray look_ahead_mask(std::size_t queries, std::size_t keys);

// (queries, keys): a query sees its own position and the window - 1 before it; the last query is the last key's.
MaskArray window_mask(std::size_t queries, std::size_t keys, std::size_t window);

// (B, 1, L, L) for documents that begin at begins (B, L): a query sees its own position and those before in its
// document.
MaskArray document_mask(const IdArray& begins);

// How many keys are real: none given (all are), one number a sequence (B), or one a query (B, Lq).
using ValidLengths = Array<std::int32_t>;

// x (B, Lq, Lk) with `value` in the places at and beyond the valid length. Throws for a length below 0 or beyond Lk.
template <class T>
Tensor<T> sequence_mask(const Tensor<T>& x, const ValidLengths& valid_lens, double value = 0);

// softmax over the last axis of x (B, Lq, Lk), with -1e6 in the places beyond the valid length: their weight is 0 to
// rounding, and a row without any valid key is uniform.
template <class T>
Tensor<T> masked_softmax(const Tensor<T>& x, const ValidLengths& valid_lens = {});

// ALiBi (Press et al. 2022): no positions in the stream; instead a head's score falls with the distance between query
// and key, -slope (i - j), at a slope of its own.
// 2^(-8 i / H), i = 1 .. H, when H is a power of two; else those of the largest power P below, then every second one of
// those of 2 P.
std::vector<double> alibi_slopes(std::size_t heads);

// (1, H, queries, keys) for one slope a head: -slope (i - j), where query i stands at the position of key i + keys -
// queries. What is added to the scores before softmax; places in the future are for a causal mask to block.
template <class T>
Array<T> alibi_bias(const std::vector<double>& slopes, std::size_t queries, std::size_t keys);

}  // namespace inkling::nn
