#include "engine/more/windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/both_types.h"
#include "engine/more/composed.h"
#include "engine/ops/elementwise/binary.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/matrix/matmul.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/concatenate.h"
#include "engine/ops/shape/select.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

Shape for_axes(const char* op, const AxisSizes& sizes, std::size_t axes) {
    check(sizes.size() == 1 || sizes.size() == axes, "{}: one number, or {}, are required, got {}", op, axes,
          static_cast<const Shape&>(sizes));
    return sizes.size() == 1 ? Shape(axes, sizes[0]) : Shape(sizes);
}

// pad() with separate lists of widths; the last axis comes first in pad().
template <class T>
Tensor<T> pad_axes(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& before,
                   const std::vector<std::ptrdiff_t>& after, double value) {
    std::vector<std::ptrdiff_t> widths;
    for (std::size_t i = before.size(); i-- > 0;) widths.push_back(before[i]), widths.push_back(after[i]);
    return pad(x, widths, value);
}

// Windows of the last axes: (..., n...) -> (..., windows..., size...)
template <class T>
Tensor<T> unfold_axes(const Tensor<T>& x, const Shape& size, const Shape& stride, const Shape& dilation) {
    const std::size_t first = x.rank() - size.size();
    Tensor<T> y = x;
    for (std::size_t i = 0; i < size.size(); ++i)
        y = unfold(y, static_cast<std::ptrdiff_t>(first + i), size[i], stride[i], dilation[i]);
    return y;
}

// y = W x, with x (B, groups, C / groups K..., L'...) and W (groups, O / groups, C / groups K...)
template <class T>
Tensor<T> convolution(const char* op, std::size_t axes, const Tensor<T>& x, const Tensor<T>& weight,
                      const Tensor<T>& bias, const ConvOptions& o) {
    check_defined(op, x, weight);
    check(x.rank() == axes + 2 && weight.rank() == axes + 2 && o.groups > 0 && x.dim(1) == o.groups * weight.dim(1) &&
              weight.dim(0) % o.groups == 0,
          "{}: x (B, C, ...) and weight (O, C / groups, ...) of {} axes are required, got {} and {}, {} groups", op,
          axes + 2, x.shape(), weight.shape(), o.groups);
    const Shape padding = for_axes(op, o.padding, axes), kernel(weight.shape().begin() + 2, weight.shape().end());
    const std::vector<std::ptrdiff_t> sides(padding.begin(), padding.end());
    const Tensor<T> windows =
        unfold_axes(pad_axes(x, sides, sides, 0), kernel, for_axes(op, o.stride, axes), for_axes(op, o.dilation, axes));
    Shape order{0, 1}, result{x.dim(0), weight.dim(0)}, along_channels{weight.dim(0)};
    for (std::size_t i = 0; i < axes; ++i) order.push_back(axes + 2 + i);
    std::size_t places = 1;
    for (std::size_t i = 2; i < axes + 2; ++i) {
        order.push_back(i), result.push_back(windows.shape()[i]), along_channels.push_back(1);
        places *= windows.shape()[i];
    }
    const std::size_t k = weight.dim(1) * size_of(kernel);
    const Tensor<T> columns = reshape(permute(windows, order), Shape{x.dim(0), o.groups, k, places});
    const Tensor<T> rows = reshape(weight, Shape{o.groups, weight.dim(0) / o.groups, k});
    const Tensor<T> y = reshape(matmul(rows, columns), result);
    return bias.defined() ? add(y, reshape(bias, along_channels)) : y;
}

// Windows of the last two axes: (..., H', W', Kh, Kw); `extra` fills positions after the padding. With ceil_mode a
// window must start inside x or the padding before it.
template <class T>
Tensor<T> windows_of_two(const char* op, const Tensor<T>& x, const AxisSizes& sizes, const PoolOptions& o,
                         double padding, double extra) {
    check_defined(op, x);
    check(x.rank() >= 2, "{}: at least two axes are required, got shape {}", op, x.shape());
    const Shape size = for_axes(op, sizes, 2), stride = for_axes(op, o.stride.empty() ? sizes : o.stride, 2);
    const Shape sides = for_axes(op, o.padding, 2), dilation = for_axes(op, o.dilation, 2);
    std::vector<std::ptrdiff_t> around(sides.begin(), sides.end()), more(2, 0);
    for (std::size_t i = 0; i < 2 && o.ceil_mode; ++i) {
        const std::size_t n = x.shape()[x.rank() - 2 + i], p = sides[i], span = dilation[i] * (size[i] - 1) + 1;
        if (n + 2 * p < span || stride[i] == 0) continue;  // unfold reports it
        std::size_t begin = (n + 2 * p - span + stride[i] - 1) / stride[i] * stride[i];
        if (begin >= n + p) begin -= stride[i];
        more[i] = std::max<std::ptrdiff_t>(
            0, static_cast<std::ptrdiff_t>(begin + span) - static_cast<std::ptrdiff_t>(n + 2 * p));
    }
    return unfold_axes(pad_axes(pad_axes(x, around, around, padding), {0, 0}, more, extra), size, stride, dilation);
}

}  // namespace

template <class T>
Tensor<T> unfold(const Tensor<T>& x, std::ptrdiff_t axis, std::size_t size, std::size_t step, std::size_t dilation) {
    check_defined("unfold", x);
    const std::size_t n = x.shape()[normalize_axis("unfold", axis, x.rank())];
    check(size > 0 && step > 0 && dilation > 0 && dilation * (size - 1) < n,
          "unfold: windows of 1 to {} elements are required, got {} of dilation {} and step {}", n, size, dilation,
          step);
    const std::size_t span = (n - 1 - dilation * (size - 1)) / step * step + 1;  // of the windows' first elements
    std::vector<Tensor<T>> places;
    for (std::size_t i = 0; i < size; ++i) places.push_back(slice(x, axis, i * dilation, i * dilation + span, step));
    return stack(places, -1);
}

template <class T>
Tensor<T> conv1d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias, const ConvOptions& options) {
    return convolution("conv1d", 1, x, weight, bias, options);
}

template <class T>
Tensor<T> conv2d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias, const ConvOptions& options) {
    return convolution("conv2d", 2, x, weight, bias, options);
}

// The gradient of conv2d for its input: x with stride - 1 zeros between its elements, and the kernel reversed.
template <class T>
Tensor<T> conv_transpose2d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias, const ConvOptions& o) {
    constexpr const char* op = "conv_transpose2d";
    check_defined(op, x, weight);
    check(x.rank() == 4 && weight.rank() == 4 && o.groups > 0 && x.dim(1) == weight.dim(0) && x.dim(1) % o.groups == 0,
          "{}: x (B, C, H, W) and weight (C, O / groups, Kh, Kw) are required, got {} and {}, {} groups", op, x.shape(),
          weight.shape(), o.groups);
    const Shape stride = for_axes(op, o.stride, 2), sides = for_axes(op, o.padding, 2);
    const Shape dilation = for_axes(op, o.dilation, 2), output = for_axes(op, o.output_padding, 2);
    Tensor<T> y = x;
    std::vector<std::ptrdiff_t> before(2), after(2);
    for (std::size_t i = 0; i < 2; ++i) {
        check(stride[i] > 0, "{}: a stride above 0 is required, got {}", op, stride);
        const auto gap = static_cast<std::ptrdiff_t>(stride[i] - 1), axis = static_cast<std::ptrdiff_t>(2 + i);
        const Tensor<T> spread = unsqueeze(y, axis + 1);
        Shape merged = y.shape(), blank = spread.shape();
        merged[2 + i] *= stride[i];
        blank[3 + i] = stride[i] - 1;
        y = reshape(concatenate({spread, Tensor<T>::zeros(blank)}, axis + 1), merged);
        before[i] = static_cast<std::ptrdiff_t>(dilation[i] * (weight.shape()[2 + i] - 1)) -
                    static_cast<std::ptrdiff_t>(sides[i]);
        after[i] = before[i] + static_cast<std::ptrdiff_t>(output[i]) - gap;
    }
    const std::size_t in = weight.dim(0) / o.groups, out = weight.dim(1);
    const Tensor<T> grouped = reshape(flip(weight, {2, 3}), Shape{o.groups, in, out, weight.dim(2), weight.dim(3)});
    const Tensor<T> turned = reshape(transpose(grouped, 1, 2), Shape{o.groups * out, in, weight.dim(2), weight.dim(3)});
    ConvOptions plain;
    plain.groups = o.groups;
    plain.dilation = o.dilation;
    return convolution(op, 2, pad_axes(y, before, after, 0), turned, bias, plain);
}

template <class T>
Tensor<T> max_pool2d(const Tensor<T>& x, const AxisSizes& size, const PoolOptions& options) {
    constexpr double low = -std::numeric_limits<double>::infinity();
    const Tensor<T> windows = flatten(windows_of_two("max_pool2d", x, size, options, low, low), -2, -1);
    const Tensor<T> first = squeeze(gather(windows, -1, argmax(windows, -1, true)), -1);
    const MaskArray broken = xt::not_equal(first.value(), first.value());  // NaN: the gradient is, too
    return where(broken, max(windows, -1), first);
}

template <class T>
Tensor<T> avg_pool2d(const Tensor<T>& x, const AxisSizes& size, const PoolOptions& options) {
    const Tensor<T> sums = sum(windows_of_two("avg_pool2d", x, size, options, 0, 0), {-2, -1});
    const Tensor<T> ones = Tensor<T>::ones(Shape{x.dim(-2), x.dim(-1)});
    const Tensor<T> counts = sum(windows_of_two("avg_pool2d", ones, size, options, options.count_padding, 0), {-2, -1});
    return div(sums, counts);
}

template <class T>
Tensor<T> interpolate(const Tensor<T>& x, const AxisSizes& sizes, Interpolation mode, bool align_corners) {
    check_defined("interpolate", x);
    check(sizes.size() <= x.rank(), "interpolate: at most {} sizes are possible for shape {}, got {}", x.rank(),
          x.shape(), sizes.size());
    Tensor<T> y = x;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t k = x.rank() - sizes.size() + i, n = x.shape()[k], m = sizes[i];
        check(n > 0, "interpolate: at least one element is required, got shape {}", x.shape());
        IdArray low(Shape{m}), high(Shape{m});
        Shape along(x.rank() - k, 1);
        along[0] = m;
        Array<T> part(along), rest(along);
        const double ratio = static_cast<double>(n) / static_cast<double>(m);
        const double last = static_cast<double>(n - 1);
        for (std::size_t j = 0; j < m; ++j) {
            const auto to = static_cast<double>(j);
            double at = mode == Interpolation::nearest ? to * ratio : (to + 0.5) * ratio;
            if (mode == Interpolation::linear)
                at = align_corners ? to * last / std::max(1.0, static_cast<double>(m - 1)) : at - 0.5;
            at = std::clamp(at, 0.0, last);
            low.data()[j] = static_cast<std::int32_t>(at);
            high.data()[j] = static_cast<std::int32_t>(std::min(std::floor(at) + 1, last));
            part.data()[j] = static_cast<T>(at - std::floor(at));
            rest.data()[j] = 1 - part.data()[j];
        }
        const auto axis = static_cast<std::ptrdiff_t>(k);
        const Tensor<T> first = index_select(y, axis, low);
        y = mode == Interpolation::linear
                ? add(mul(first, Tensor<T>(rest)), mul(index_select(y, axis, high), Tensor<T>(part)))
                : first;
    }
    return y;
}

INKLING_BOTH_TYPES(unfold<T>, conv1d<T>, conv2d<T>, conv_transpose2d<T>, max_pool2d<T>, avg_pool2d<T>, interpolate<T>);

}  // namespace inkling
