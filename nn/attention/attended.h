// What every attention mechanism gives back, and the steps that all of them share.
#pragma once

#include "engine/tensor.h"

namespace inkling::nn {

template <class T>
struct Attended {
    Tensor<T> output;
    Tensor<T> weights;  // (..., Lq, Lk), how much query i looks at key j: rows sum to 1
};

// q k^T / sqrt(d): q (..., Lq, d), k (..., Lk, d) -> (..., Lq, Lk).
template <class T>
Tensor<T> scaled_scores(const Tensor<T>& q, const Tensor<T>& k);

// Scores with -inf where the mask, which broadcasts to them, has 0, so that their weight is exactly 0. An undefined
// mask blocks nothing. Errors name `op`.
template <class T>
Tensor<T> block_scores(const char* op, const Tensor<T>& scores, const MaskArray& mask);

}  // namespace inkling::nn
