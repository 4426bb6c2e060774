// Variance and standard deviation over axes.
#pragma once

#include "engine/array/axes.h"
#include "engine/autograd/tensor.h"

namespace inkling {

// sum_i (x_i - mean)^2 / (n - correction), and its square root. NaN for equal elements if their number is at
// most the correction, such as a single element. Write inkling::std if `using namespace inkling` makes std ambiguous.
// The gradient of std is 0 where all elements are equal.
template <class T>
Tensor<T> var(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false, double correction = 1);
template <class T>
Tensor<T> std(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false, double correction = 1);

}  // namespace inkling
