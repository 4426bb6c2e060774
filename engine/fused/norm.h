// Normalization over the last axis.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// (x - mean) / sqrt(variance + eps) * gain + bias over the last axis of size C (Ba et al. 2016); the variance divides
// by C. gain (C); bias (C) or undefined.
template <class T>
Tensor<T> layer_norm(const Tensor<T>& x, const Tensor<T>& gain, const Tensor<T>& bias, double eps = 1e-5);

// x / sqrt(mean(x^2) + eps) * gain over the last axis (Zhang and Sennrich 2019). gain (C) or undefined.
template <class T>
Tensor<T> rms_norm(const Tensor<T>& x, const Tensor<T>& gain, double eps = 1e-5);

}  // namespace inkling
