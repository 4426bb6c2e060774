// Ops that are made of other ops, where speed is not the point. Their gradients are those of their parts.
#pragma once

#include <vector>

#include "engine/array/axes.h"
#include "engine/ops/select.h"

namespace inkling {

// Puts `value` around x. `widths`: before and after the last axis, then the axis in front of it, ... A negative width
// cuts elements off.
//   pad(x, {1, 2})   (H, W) -> (H, W + 3)
template <class T>
Tensor<T> pad(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& widths, double value = 0);
template <class T>
Tensor<T> flip(const Tensor<T>& x, const Axes& axes = {});  // in reverse order along the axes; default: all
template <class T>
Tensor<T> roll(const Tensor<T>& x, std::ptrdiff_t shift, std::ptrdiff_t axis);  // y_(i + shift mod n) = x_i
// x again and again, times[i] times along axis i. The shorter of the two shapes gets ones in front.
template <class T>
Tensor<T> tile(const Tensor<T>& x, const Shape& times);
template <class T>
Tensor<T> one_hot(const IdArray& ids, std::size_t classes);  // (...) -> (..., classes): 1 at the id, 0 elsewhere

// (sum |x|^p)^(1/p) over axes, p > 0; the largest |x| where p is infinite. The gradient is 0 where all x are 0.
template <class T>
Tensor<T> norm(const Tensor<T>& x, double p = 2, const Axes& axes = {}, bool keep_axes = false);
template <class T>
IdArray argmin(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);  // as argmax of -x
template <class T>
IdArray argsort(const Tensor<T>& x, std::ptrdiff_t axis = -1, bool descending = false);  // the ids of sort

// y_i = max(x_0, ..., x_i) along an axis, and where the maximum is: the last place of equal ones.
template <class T>
Ordered<T> cummax(const Tensor<T>& x, std::ptrdiff_t axis);
template <class T>
Tensor<T> cumprod(const Tensor<T>& x, std::ptrdiff_t axis);  // y_i = x_0 x_1 ... x_i

// x with source[..., j, ...] in place of [..., index[..., j, ...], ...]; of several in one place the last stays. Shapes
// as for scatter_add.
template <class T>
Tensor<T> scatter(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index, const Tensor<T>& source);

// Windows of `size` elements, `dilation` apart, each `step` behind the one before. The axis becomes the number of
// windows, and the last axis, a new one, is the place in the window: (..., n, ...) -> (..., windows, ..., size)
template <class T>
Tensor<T> unfold(const Tensor<T>& x, std::ptrdiff_t axis, std::size_t size, std::size_t step = 1,
                 std::size_t dilation = 1);

// As torch.nn.functional has them, the same along each axis of x behind the channels; `padding` is of zeros.
//   conv1d   x (B, C, L),    weight (O, C, K),      bias (O) or undefined -> (B, O, L')
//   conv2d   x (B, C, H, W), weight (O, C, Kh, Kw), bias (O) or undefined -> (B, O, H', W')
template <class T>
Tensor<T> conv1d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias = {}, std::size_t stride = 1,
                 std::size_t padding = 0, std::size_t dilation = 1);
template <class T>
Tensor<T> conv2d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias = {}, std::size_t stride = 1,
                 std::size_t padding = 0, std::size_t dilation = 1);
// The maximum and the mean of windows (size, size) of the last two axes, `stride` apart; 0: as far as they are wide.
template <class T>
Tensor<T> max_pool2d(const Tensor<T>& x, std::size_t size, std::size_t stride = 0);
template <class T>
Tensor<T> avg_pool2d(const Tensor<T>& x, std::size_t size, std::size_t stride = 0);

}  // namespace inkling
