// ALiBi (Press et al. 2022): no positions in the stream; instead a head's score falls with the distance between query
// and key, -slope (i - j), at a slope of its own.
#pragma once

#include <vector>

#include "engine/array/array.h"

namespace inkling::nn {

// 2^(-8 i / H), i = 1 .. H, when H is a power of two; else those of the largest power P below, then every second one of
// those of 2 P.
std::vector<double> alibi_slopes(std::size_t heads);

// (1, H, queries, keys) for one slope a head: -slope (i - j), where query i stands at the position of key i + keys -
// queries. What is added to the scores before softmax; places in the future are for a causal mask to block.
template <class T>
Array<T> alibi_bias(const std::vector<double>& slopes, std::size_t queries, std::size_t keys);

}  // namespace inkling::nn
