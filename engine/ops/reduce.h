// Reductions over axes: sums, means, maxima, products, variances; cumulative sums.
#pragma once

#include "engine/array/axes.h"
#include "engine/autograd/tensor.h"

namespace inkling {

// How losses per element or row combine: their mean, their sum, or not at all.
enum class Reduction { mean, sum, none };

// Reduces the named axes (all by default); with `keep_axes` they stay, with size 1.
template <class T>
Tensor<T> sum(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
template <class T>
Tensor<T> mean(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);  // of no elements: NaN
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

// sum_i (x_i - mean)^2 / (n - correction), and its square root. NaN for equal elements that are no more than the
// correction, such as a single one. Write inkling::std if `using namespace inkling` makes std ambiguous. The gradient
// of std is 0 where all elements are equal.
template <class T>
Tensor<T> var(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false, double correction = 1);
template <class T>
Tensor<T> std(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false, double correction = 1);

// The index of the first maximum, or of the first NaN: along the axis, or row-major over several axes.
template <class T>
IdArray argmax(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);

// y_i = x_0 + ... + x_i along an axis, accumulated in double.
template <class T>
Tensor<T> cumsum(const Tensor<T>& x, std::ptrdiff_t axis);

}  // namespace inkling
