// Masks of attention, the softmax over lengths, and ALiBi's slopes. engine/ops/plain/attention_masks.h has the others.
// A mask is 1 where a query may look and 0 where it may not, and broadcasts to (B, H, Lq, Lk). Only causal_mask
// (engine/ops/elementwise/mask.h) is 1 where a query may not look: it is for masked_fill, which fills there.
#pragma once

#include <vector>

#include "engine/ops/plain/attention.h"

namespace inkling::nn {

using inkling::alibi_bias;
using inkling::document_mask;
using inkling::look_ahead_mask;
using inkling::window_mask;

// (B, 1, 1, keys): sequence b has lengths[b] real keys; the rest is padding.
MaskArray padding_mask(const std::vector<std::size_t>& lengths, std::size_t keys);

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
// For H heads, a power of two: 2^(-8 i / H), i = 1 .. H. For any other H: the slopes of the largest power of two P
// below H, followed by every second slope of 2 P.
std::vector<double> alibi_slopes(std::size_t heads);

}  // namespace inkling::nn
