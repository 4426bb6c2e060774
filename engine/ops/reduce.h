// Sums, means, extremes, products and spreads over axes; running sums.
#pragma once

#include "engine/array/axes.h"
#include "engine/autograd/tensor.h"

namespace inkling {

// What becomes of a loss per element or row: its mean, its sum, or itself.
enum class Reduction { mean, sum, none };

// Over the named axes, which vanish, or stay with size 1 when `keep_axes`.
template <class T>
Tensor<T> sum(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
template <class T>
Tensor<T> mean(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
// Elements that share the maximum, or the minimum, share its gradient in equal parts.
template <class T>
Tensor<T> max(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
template <class T>
Tensor<T> min(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
template <class T>
Tensor<T> prod(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);  // 1 over no elements
// ln sum_i e^x_i, without overflow
template <class T>
Tensor<T> logsumexp(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);

// sum_i (x_i - mean)^2 / (n - correction), of n > correction elements, and its root. Call the root as inkling::std
// where a `using namespace inkling` would leave open which std is meant. The gradient of std is 0 where all elements
// are equal.
template <class T>
Tensor<T> var(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false, double correction = 1);
template <class T>
Tensor<T> std(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false, double correction = 1);

// Where the first maximum is, or the first NaN: the index along the axis, or the row-major one over several axes.
template <class T>
IdArray argmax(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);

// y_i = x_0 + ... + x_i along an axis, added up in double.
template <class T>
Tensor<T> cumsum(const Tensor<T>& x, std::ptrdiff_t axis);

}  // namespace inkling
