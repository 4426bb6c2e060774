// Ops composed of other ops, for which speed matters less. Their gradients come from their parts.
#pragma once

#include <vector>

#include "engine/array/axes.h"
#include "engine/ops/shape/select.h"

namespace inkling {

// Adds `value` around x. `widths` are the widths before and after the last axis, then for the axis before it, and so
// on. A negative width removes elements.
//   pad(x, {1, 2})   (H, W) -> (H, W + 3)
template <class T>
Tensor<T> pad(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& widths, double value = 0);
// Pads with elements of x. For a b c:  c b | a b c | b a;  a a | a b c | c c;  b c | a b c | a b
enum class Padding { reflect, replicate, circular };
template <class T>
Tensor<T> pad(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& widths, Padding with);
template <class T>
Tensor<T> flip(const Tensor<T>& x, const Axes& axes = {});  // in reverse order along the axes; default: all
template <class T>
Tensor<T> roll(const Tensor<T>& x, std::ptrdiff_t shift, std::ptrdiff_t axis);  // y_(i + shift mod n) = x_i
// Repeats x times[i] times along axis i. The shorter of the two shapes gets ones in front.
template <class T>
Tensor<T> tile(const Tensor<T>& x, const Shape& times);
template <class T>
Tensor<T> one_hot(const IdArray& ids, std::size_t classes);  // (...) -> (..., classes): 1 at the id, 0 elsewhere

// The elements [..., i, ..., i + k, ...] of axes a and b, as a new last axis.
template <class T>
Tensor<T> diagonal(const Tensor<T>& x, std::ptrdiff_t k = 0, std::ptrdiff_t a = 0, std::ptrdiff_t b = 1);

// (sum |x|^p)^(1/p) over axes, p > 0; the largest |x| where p is infinite. The gradient is 0 where all x are 0.
template <class T>
Tensor<T> norm(const Tensor<T>& x, double p = 2, const Axes& axes = {}, bool keep_axes = false);
// x / max(norm, eps), with the norm along an axis.
template <class T>
Tensor<T> normalize(const Tensor<T>& x, double p = 2, std::ptrdiff_t axis = 1, double eps = 1e-12);
template <class T>
IdArray argmin(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);  // as argmax of -x
template <class T>
IdArray argsort(const Tensor<T>& x, std::ptrdiff_t axis = -1, bool descending = false);  // the ids of sort

// y_i = max(x_0, ..., x_i) along an axis, and the index of the maximum: the last index among equal elements.
template <class T>
Ordered<T> cummax(const Tensor<T>& x, std::ptrdiff_t axis);
template <class T>
Ordered<T> cummin(const Tensor<T>& x, std::ptrdiff_t axis);  // the same with the minimum
template <class T>
Tensor<T> logcumsumexp(const Tensor<T>& x, std::ptrdiff_t axis);  // y_i = ln(e^x_0 + ... + e^x_i)
template <class T>
Tensor<T> cumprod(const Tensor<T>& x, std::ptrdiff_t axis);  // y_i = x_0 x_1 ... x_i

}  // namespace inkling
