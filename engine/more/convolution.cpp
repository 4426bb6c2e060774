// Convolutions are the gradients of one sum over images, windows p, output channels o, and places k of a window in the
// input channels c of o's group:
//     S = sum of Y_o,p W_o,c,k X_c,(stride p + dilation k)
//   conv1d, conv2d    dS/dY + b, of X and W
//   conv_transpose2d  dS/dX + b, of Y and W
// The gradient for one factor is linear in the two others, so its gradients are the gradients for those, to any order:
//   conv2d            dX = dS/dX with dY for Y     dW = dS/dW with dY for Y     db = sum of dY over images and windows
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/base/precision.h"
#include "engine/base/profile.h"
#include "engine/more/convolution_passes.h"
#include "engine/more/window_axes.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"
#include "engine/weights/packed_matrix.h"

namespace inkling {
namespace {

template <class T>
ConstArray<T> dense_factor(const ConstArray<T>& x, Precision precision) {
    if constexpr (std::is_same_v<T, float>) {
        if (precision == Precision::bf16) {
            Array<T> rounded = x.clone();
            round_for(precision, rounded.data(), rounded.size());
            return rounded;
        }
    }
    return x.contiguous();
}

// Factors X, W and Y, of which one is undefined -> S's gradient for that one, plus the bias.
template <class T>
Tensor<T> missing_factor(const char* op, const Windows& n, const std::array<Tensor<T>, 3>& factors,
                         const Tensor<T>& bias = {}) {
    const Precision precision = product_precision();
    std::size_t missing = 0;
    while (factors[missing].defined()) ++missing;
    std::array<ConstArray<T>, 3> dense;
    std::array<Saved<T>, 3> kept;
    for (std::size_t i = 0; i < 3; ++i) {
        if (i == missing) continue;
        dense[i] = dense_factor(factors[i].value(), precision);
        kept[i] = saved_for(factors[3 - i - missing], factors[i].value());
    }
    const ConstArray<T> shift = bias.defined() ? bias.value().contiguous() : ConstArray<T>();
    const T* const b = bias.defined() ? shift.data() : nullptr;
    const T *const x = dense[0].data(), *const w = dense[1].data(), *const y = dense[2].data();
    const auto array = [](auto... sizes) { return Array<T>({to_size(sizes)...}); };
    Array<T> result;
    if (missing == 0) {
        result = array(n.images, n.groups * n.in, n.y.in, n.x.in);
        convolve_transposed(n, y, w, b, result.data());
    } else if (missing == 1) {
        result = weight_gradient(n, x, y).reshaped(
            {to_size(n.groups * n.out), to_size(n.in), to_size(n.y.kernel), to_size(n.x.kernel)});
    } else {
        result = array(n.images, n.groups * n.out, n.y.out, n.x.out);
        convolve(n, x, w, b, result.data());
    }
    profile::count_flops(2.0 * static_cast<double>(n.images * n.groups * n.out * n.in) *
                         static_cast<double>(n.kernel() * n.out_size()));
    return record(op, std::move(result), inputs(factors[0], factors[1], factors[2], bias),
                  [=](const Tensor<T>& dy, Gradients<T>& grads) {
                      const WithPrecision scope(precision);
                      for (std::size_t i = 0; i < 3; ++i) {
                          if (!grads.wanted(i)) continue;
                          const std::size_t other = 3 - i - missing;
                          std::array<Tensor<T>, 3> given;
                          given[missing] = dy;
                          given[other] = grads.in(other, *kept[other]);
                          grads.add(i, missing_factor(op, n, given));
                      }
                      if (grads.wanted(3)) grads.add(3, sum(dy, {0, 2, 3}));
                  });
}

template <class T>
Windows windows_of(const char* op, const Tensor<T>& x, const Tensor<T>& weight, const ConvOptions& o) {
    const Shape stride = for_axes(op, o.stride, 2), padding = for_axes(op, o.padding, 2);
    const Shape dilation = for_axes(op, o.dilation, 2);
    const auto axis = [&](std::size_t i) {
        return WindowAxis{
            0, 0, to_index(weight.shape()[2 + i]), to_index(stride[i]), to_index(padding[i]), to_index(dilation[i])};
    };
    return {to_index(x.dim(0)),
            to_index(o.groups),
            to_index(weight.dim(1)),
            to_index(weight.dim(0) / o.groups),
            axis(0),
            axis(1)};
}

template <class T>
void check_bias(const char* op, const Tensor<T>& bias, std::size_t channels) {
    check(!bias.defined() || bias.shape() == Shape{channels}, "{}: expected a bias of shape ({},), got {}", op,
          channels, bias.shape());
}

template <class T>
void check_convolution(const char* op, std::size_t axes, const Tensor<T>& x, const Tensor<T>& weight,
                       const Tensor<T>& bias, const ConvOptions& o) {
    check_defined(op, x, weight);
    check(x.rank() == axes && weight.rank() == axes && o.groups > 0 && x.dim(1) == o.groups * weight.dim(1) &&
              weight.dim(0) % o.groups == 0,
          "{}: expected x (B, C, ...) and weight (O, C / groups, ...) of {} axes, got {} and {}, {} groups", op, axes,
          x.shape(), weight.shape(), o.groups);
    check_bias(op, bias, weight.dim(0));
}

template <class T>
Tensor<T> convolution(const char* op, const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias,
                      const ConvOptions& o) {
    Windows n = windows_of(op, x, weight, o);
    for (const auto& [axis, size] : {std::pair(&n.y, x.dim(2)), std::pair(&n.x, x.dim(3))}) {
        axis->in = to_index(size);
        axis->out = to_index(count_windows(op, size + 2 * to_size(axis->padding), to_size(axis->kernel),
                                           to_size(axis->stride), to_size(axis->dilation)));
    }
    return missing_factor<T>(op, n, {x, weight, Tensor<T>()}, bias);
}

}  // namespace

template <class T>
Tensor<T> conv1d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias, const ConvOptions& o) {
    check_convolution("conv1d", 3, x, weight, bias, o);
    const auto of_row = [](std::size_t across, const AxisSizes& sizes) {
        return AxisSizes(across, for_axes("conv1d", sizes, 1)[0]);
    };
    const ConvOptions options{of_row(1, o.stride), of_row(0, o.padding), of_row(1, o.dilation), o.groups};
    return squeeze(convolution("conv1d", unsqueeze(x, 2), unsqueeze(weight, 2), bias, options), 2);
}

template <class T>
Tensor<T> conv2d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias, const ConvOptions& o) {
    check_convolution("conv2d", 4, x, weight, bias, o);
    return convolution("conv2d", x, weight, bias, o);
}

template <class T>
Tensor<T> conv_transpose2d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias, const ConvOptions& o) {
    constexpr const char* op = "conv_transpose2d";
    check_defined(op, x, weight);
    check(x.rank() == 4 && weight.rank() == 4 && o.groups > 0 && x.dim(1) == weight.dim(0) && x.dim(1) % o.groups == 0,
          "{}: expected x (B, C, H, W) and weight (C, O / groups, Kh, Kw), got {} and {}, {} groups", op, x.shape(),
          weight.shape(), o.groups);
    check_bias(op, bias, o.groups * weight.dim(1));
    const Shape more = for_axes(op, o.output_padding, 2);
    Windows n = windows_of(op, x, weight, o);
    for (std::size_t i = 0; i < 2; ++i) {
        WindowAxis& axis = i == 0 ? n.y : n.x;
        axis.out = to_index(x.shape()[2 + i]);
        axis.in = (axis.out - 1) * axis.stride + axis.reach() + 1 + to_index(more[i]) - 2 * axis.padding;
        check(axis.kernel > 0 && axis.stride > 0 && axis.dilation > 0 && axis.in > 0,
              "{}: expected a stride above 0, and padding that leaves an element, got {} and {} for {} and {}", op,
              axis.stride, axis.padding, x.shape(), weight.shape());
    }
    return missing_factor<T>(op, n, {Tensor<T>(), weight, x}, bias);
}

INKLING_BOTH_TYPES(conv1d<T>, conv2d<T>, conv_transpose2d<T>);

}  // namespace inkling
