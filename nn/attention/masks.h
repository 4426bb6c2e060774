// Masks of attention: 1 where a query may look, 0 where it may not, in shapes that broadcast to (B, H, Lq, Lk); and the
// softmax over lengths.
#pragma once

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

}  // namespace inkling::nn
