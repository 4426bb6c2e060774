// Ops as their formulas say, made of other ops, whose rules give their gradients of any order. engine/fused has the
// same functions, fast; tests compare the two. attention.h and cross_entropy.h have the other two.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling::plain {

// x W^T + b for x (..., in), W (out, in), and b (out) or undefined.
template <class T>
Tensor<T> linear(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias = {});

// Row id of the table (V, C) for each of the ids (...): (..., C).
template <class T>
Tensor<T> embedding(const IdArray& ids, const Tensor<T>& weight);

// Over the last axis of size C: (x - mean) / sqrt(variance + eps) gain + bias. gain and bias (C) or undefined.
template <class T>
Tensor<T> layer_norm(const Tensor<T>& x, const Tensor<T>& gain, const Tensor<T>& bias, double eps = 1e-5);
// x / sqrt(mean(x^2) + eps) gain
template <class T>
Tensor<T> rms_norm(const Tensor<T>& x, const Tensor<T>& gain, double eps = 1e-5);

}  // namespace inkling::plain
