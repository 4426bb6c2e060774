// Reductions over axes: sums, means, maxima, products; cumulative sums.
#pragma once

#include "engine/array/axes.h"
#include "engine/autograd/tensor.h"

namespace inkling {

// How losses per element or row combine: their mean, their sum, or not at all.
enum class Reduction { mean, sum, none };

// Reduces the named axes (all by default); with `keep_axes` they stay with size 1.
template <class T>
Tensor<T> sum(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
template <class T>
Tensor<T> mean(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);  // NaN for no elements
template <class T>
Tensor<T> sum_to(const Tensor<T>& x, const Shape& shape);  // over the axes along which `shape` broadcasts to x's
// Tied elements share the gradient equally.
template <class T>
Tensor<T> max(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
template <class T>
Tensor<T> min(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
template <class T>
Tensor<T> prod(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);  // 1 for no elements
// ln sum_i e^x_i, without overflow
template <class T>
Tensor<T> logsumexp(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);

// The index of the first maximum, or of the first NaN: along the axis, or row-major over several axes.
template <class T>
IdArray argmax(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);

// y_i = x_0 + ... + x_i along an axis, accumulated in double.
template <class T>
Tensor<T> cumsum(const Tensor<T>& x, std::ptrdiff_t axis);

}  // namespace inkling
