// Windows of neighbouring elements, convolution and pooling on them, and resizing.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// Windows of `size` elements, `dilation` apart; each window starts `step` after the previous one. The axis becomes the
// number of windows, and a new last axis is the position in the window: (..., n, ...) -> (..., windows, ..., size)
template <class T>
Tensor<T> unfold(const Tensor<T>& x, std::ptrdiff_t axis, std::size_t size, std::size_t step = 1,
                 std::size_t dilation = 1);

// A number for each axis of the windows, or one number for all axes: .stride = 2, .stride = {2, 1}.
struct AxisSizes : Shape {
    AxisSizes(std::integral auto... sizes)  // NOLINT: implicit on purpose
        : Shape(std::initializer_list<std::size_t>{static_cast<std::size_t>(sizes)...}) {}
};

struct ConvOptions {
    AxisSizes stride = 1, padding = 0, dilation = 1;  // padding: zeros, on both sides
    std::size_t groups = 1;                           // groups of channels with separate weights
    AxisSizes output_padding = 0;                     // for a transposed convolution: extra elements at the end
};
// As in torch.nn.functional, the same along each axis of x after the channels.
//   conv1d            x (B, C, L),    weight (O, C / groups, K),      bias (O) or undefined -> (B, O, L')
//   conv2d            x (B, C, H, W), weight (O, C / groups, Kh, Kw), bias (O) or undefined -> (B, O, H', W')
//   conv_transpose2d  x (B, C, H, W), weight (C, O / groups, Kh, Kw), bias (O) or undefined -> (B, O, H', W')
template <class T>
Tensor<T> conv1d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias = {},
                 const ConvOptions& options = {});
template <class T>
Tensor<T> conv2d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias = {},
                 const ConvOptions& options = {});
template <class T>
Tensor<T> conv_transpose2d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias = {},
                           const ConvOptions& options = {});

struct PoolOptions {
    AxisSizes stride = {};  // empty: the window size
    AxisSizes padding = 0, dilation = 1;
    bool ceil_mode = false;     // keeps an incomplete last window
    bool count_padding = true;  // avg_pool2d divides by the number of elements with the padding
};
// The maximum and the mean of windows of the last two axes. The first of tied maxima has the gradient, as in PyTorch.
template <class T>
Tensor<T> max_pool2d(const Tensor<T>& x, const AxisSizes& size, const PoolOptions& options = {});
template <class T>
Tensor<T> avg_pool2d(const Tensor<T>& x, const AxisSizes& size, const PoolOptions& options = {});

// Resizes the last axes, as torch.nn.functional.interpolate. Linear interpolates between two neighbours along each
// axis; with `align_corners` the first and last elements keep their position.
enum class Interpolation { nearest, nearest_exact, linear };
template <class T>
Tensor<T> interpolate(const Tensor<T>& x, const AxisSizes& sizes, Interpolation mode = Interpolation::nearest,
                      bool align_corners = false);

}  // namespace inkling
