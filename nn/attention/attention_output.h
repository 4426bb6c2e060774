// What every attention mechanism gives back, and the steps that all of them share.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling::nn {

template <class T>
struct AttentionOutput {
    Tensor<T> output;
    Tensor<T> weights;  // (..., Lq, Lk), how much query i looks at key j: rows sum to 1
};

// q k^T / sqrt(d): q (..., Lq, d), k (..., Lk, d) -> (..., Lq, Lk).
template <class T>
Tensor<T> scaled_scores(const Tensor<T>& q, const Tensor<T>& k);

}  // namespace inkling::nn
