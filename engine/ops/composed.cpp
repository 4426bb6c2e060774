#include "engine/ops/composed.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/ops/binary.h"
#include "engine/ops/linear.h"
#include "engine/ops/mask.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/ops/unary.h"

namespace inkling {
namespace {

template <class T>
Tensor<T> convolution(const char* op, std::size_t axes, const Tensor<T>& x, const Tensor<T>& weight,
                      const Tensor<T>& bias, std::size_t stride, std::size_t padding, std::size_t dilation) {
    check_defined(op, x, weight);
    check(x.rank() == axes + 2 && weight.rank() == axes + 2 && x.dim(1) == weight.dim(1),
          "{}: x (B, C, ...) and weight (O, C, ...) of {} axes are required, got {} and {}", op, axes + 2, x.shape(),
          weight.shape());
    Tensor<T> windows = pad(x, std::vector<std::ptrdiff_t>(2 * axes, static_cast<std::ptrdiff_t>(padding)));
    for (std::size_t i = 2; i < axes + 2; ++i)
        windows = unfold(windows, static_cast<std::ptrdiff_t>(i), weight.shape()[i], stride, dilation);
    Shape channels_last{0}, flat{x.dim(0)}, channels_first{0, axes + 1};  // (B, L', ..., C, K, ...)
    for (std::size_t i = 2; i < axes + 2; ++i)
        channels_last.push_back(i), flat.push_back(windows.shape()[i]), channels_first.push_back(i - 1);
    channels_last.push_back(1);
    for (std::size_t i = axes + 2; i < windows.rank(); ++i) channels_last.push_back(i);
    flat.push_back(size_of(Shape(weight.shape().begin() + 1, weight.shape().end())));
    const Tensor<T> rows = reshape(permute(windows, channels_last), flat);
    return permute(linear(rows, reshape(weight, Shape{weight.dim(0), flat.back()}), bias), channels_first);
}

template <class T>
Tensor<T> windows_of_two_axes(const char* op, const Tensor<T>& x, std::size_t size, std::size_t stride) {
    check_defined(op, x);
    check(x.rank() >= 2, "{}: at least two axes are required, got shape {}", op, x.shape());
    const auto rank = static_cast<std::ptrdiff_t>(x.rank());
    const std::size_t step = stride ? stride : size;
    return unfold(unfold(x, rank - 2, size, step), rank - 1, size, step);
}

}  // namespace

template <class T>
Tensor<T> pad(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& widths, double value) {
    check_defined("pad", x);
    check(widths.size() % 2 == 0 && widths.size() <= 2 * x.rank(),
          "pad: two widths for each axis, from the last on, are required, got {} for shape {}", widths.size(),
          x.shape());
    Tensor<T> y = x;
    for (std::size_t i = 0; i < widths.size(); i += 2) {
        const auto axis = static_cast<std::ptrdiff_t>(x.rank() - 1 - i / 2);
        const std::ptrdiff_t before = widths[i], after = widths[i + 1];
        const auto n = static_cast<std::ptrdiff_t>(y.dim(axis)), begin = std::max<std::ptrdiff_t>(0, -before),
                   end = n + std::min<std::ptrdiff_t>(0, after);
        check(begin <= end, "pad: widths {} and {} cut more off axis {} than shape {} has", before, after, axis,
              x.shape());
        std::vector<Tensor<T>> parts;
        const auto add_value = [&](std::ptrdiff_t width) {
            Shape shape = y.shape();
            shape[static_cast<std::size_t>(axis)] = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, width));
            if (width > 0) parts.push_back(Tensor<T>::full(shape, static_cast<T>(value)));
        };
        add_value(before);
        parts.push_back(slice(y, axis, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)));
        add_value(after);
        y = concatenate(parts, axis);
    }
    return y;
}

template <class T>
Tensor<T> flip(const Tensor<T>& x, const Axes& axes) {
    check_defined("flip", x);
    Tensor<T> y = x;
    for (const std::size_t axis : sorted_axes("flip", axes, x.rank())) {
        IdArray ids({x.shape()[axis]});
        std::iota(ids.begin(), ids.end(), 0);
        std::reverse(ids.begin(), ids.end());
        y = index_select(y, static_cast<std::ptrdiff_t>(axis), ids);
    }
    return y;
}

template <class T>
Tensor<T> roll(const Tensor<T>& x, std::ptrdiff_t shift, std::ptrdiff_t axis) {
    check_defined("roll", x);
    const auto n = static_cast<std::ptrdiff_t>(x.shape()[normalize_axis("roll", axis, x.rank())]);
    if (n == 0) return x;
    const auto first = static_cast<std::size_t>((n - shift % n) % n);
    return concatenate({slice(x, axis, first, x.dim(axis)), slice(x, axis, 0, first)}, axis);
}

template <class T>
Tensor<T> tile(const Tensor<T>& x, const Shape& times) {
    check_defined("tile", x);
    Tensor<T> y = x;
    while (y.rank() < times.size()) y = unsqueeze(y, 0);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const auto axis = static_cast<std::ptrdiff_t>(y.rank() - times.size() + i);
        y = times[i] == 0 ? slice(y, axis, 0, 0) : concatenate(std::vector<Tensor<T>>(times[i], y), axis);
    }
    return y;
}

template <class T>
Tensor<T> one_hot(const IdArray& ids, std::size_t classes) {
    check(ids.defined(), "one_hot: ids are required, got an undefined array");
    Shape shape = ids.shape();
    shape.push_back(classes);
    Array<T> y(shape, T{0});
    T* row = y.data();
    for (const std::int32_t id : ids) {
        check(id >= 0 && static_cast<std::size_t>(id) < classes,
              "one_hot: ids must be at least 0 and below {} classes, got {}", classes, id);
        row[id] = 1;
        row += classes;
    }
    return Tensor<T>(y);
}

template <class T>
Tensor<T> norm(const Tensor<T>& x, double p, const Axes& axes, bool keep_axes) {
    check_defined("norm", x);
    check(p > 0, "norm: a p above 0 is required, got {}", p);
    if (p == 1) return sum(abs(x), axes, keep_axes);
    if (std::isinf(p)) return max(abs(x), axes, keep_axes);
    const Tensor<T> s = sum(p == 2 ? mul(x, x) : pow(abs(x), p), axes, keep_axes);
    const MaskArray zero = xt::equal(s.value(), T{0});  // there the root has no gradient
    const Tensor<T> above = masked_fill(s, zero, 1);
    return where(zero, s, p == 2 ? sqrt(above) : pow(above, 1 / p));
}

template <class T>
IdArray argmin(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    check_defined("argmin", x);
    return argmax(neg(x.detach()), axes, keep_axes);
}

template <class T>
IdArray argsort(const Tensor<T>& x, std::ptrdiff_t axis, bool descending) {
    check_defined("argsort", x);
    return sort(x.detach(), axis, descending).ids;
}

template <class T>
Ordered<T> cummax(const Tensor<T>& x, std::ptrdiff_t axis) {
    check_defined("cummax", x);
    if (x.rank() == 0) return as_row(x, [axis](const Tensor<T>& row) { return cummax(row, axis); });
    const ConstArray<T> rows = x.value().transposed(axis, -1).contiguous();
    IdArray ids(rows.shape());
    const std::size_t n = rows.dim(-1);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const T* const row = rows.data() + at / n * n;
        const std::size_t i = at % n, best = i ? static_cast<std::size_t>(ids.data()[at - 1]) : 0;
        const bool now = row[i] >= row[best] || (std::isnan(row[i]) && !std::isnan(row[best]));
        ids.data()[at] = static_cast<std::int32_t>(now ? i : best);
    }
    ids = ids.transposed(axis, -1);
    return {gather(x, axis, ids), ids};
}

template <class T>
Tensor<T> cumprod(const Tensor<T>& x, std::ptrdiff_t axis) {
    check_defined("cumprod", x);
    if (x.rank() == 0) return as_row(x, [axis](const Tensor<T>& row) { return cumprod(row, axis); });
    std::vector<Tensor<T>> products;
    for (Tensor<T>& part : split(x, x.dim(axis), axis))
        products.push_back(products.empty() ? part : mul(products.back(), part));
    return products.empty() ? x : concatenate(products, axis);
}

template <class T>
Tensor<T> scatter(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index, const Tensor<T>& source) {
    check_defined("scatter", x, source);
    const std::size_t k = normalize_axis("scatter", axis, x.rank()), n = x.shape()[k];
    check(index.defined() && index.shape() == source.shape(),
          "scatter: a source of the index's shape is required, got {} and {}", source.shape(),
          index.defined() ? index.shape() : Shape());
    Shape shape = index.shape();
    if (shape.size() == x.rank()) shape[k] = n;
    check(shape == x.shape(),
          "scatter: an index of x's shape but along the axis is required, got index {} for shape {}", index.shape(),
          x.shape());
    std::swap(shape[k], shape.back());
    IdArray from(shape);  // the place of each element of y where source follows x along the axis
    const ConstArray<std::int32_t> ids = index.transposed(axis, -1).contiguous();
    const std::size_t m = ids.dim(-1);
    for (std::size_t r = 0; r < from.size() / std::max<std::size_t>(n, 1); ++r) {
        std::int32_t* const row = from.data() + r * n;
        std::iota(row, row + n, 0);
        for (std::size_t j = 0; j < m; ++j) {
            const std::int32_t id = ids.data()[r * m + j];
            check(id >= 0 && static_cast<std::size_t>(id) < n, "scatter: ids must be at least 0 and below {}, got {}",
                  n, id);
            row[id] = static_cast<std::int32_t>(n + j);
        }
    }
    return gather(concatenate({x, source}, axis), axis, from.transposed(axis, -1));
}

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
Tensor<T> conv1d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias, std::size_t stride,
                 std::size_t padding, std::size_t dilation) {
    return convolution("conv1d", 1, x, weight, bias, stride, padding, dilation);
}

template <class T>
Tensor<T> conv2d(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias, std::size_t stride,
                 std::size_t padding, std::size_t dilation) {
    return convolution("conv2d", 2, x, weight, bias, stride, padding, dilation);
}

template <class T>
Tensor<T> max_pool2d(const Tensor<T>& x, std::size_t size, std::size_t stride) {
    return max(windows_of_two_axes("max_pool2d", x, size, stride), {-2, -1});
}

template <class T>
Tensor<T> avg_pool2d(const Tensor<T>& x, std::size_t size, std::size_t stride) {
    return mean(windows_of_two_axes("avg_pool2d", x, size, stride), {-2, -1});
}

#define INKLING_INSTANTIATE(T)                                                                                \
    template Tensor<T> pad(const Tensor<T>&, const std::vector<std::ptrdiff_t>&, double);                     \
    template Tensor<T> flip(const Tensor<T>&, const Axes&);                                                   \
    template Tensor<T> roll(const Tensor<T>&, std::ptrdiff_t, std::ptrdiff_t);                                \
    template Tensor<T> tile(const Tensor<T>&, const Shape&);                                                  \
    template Tensor<T> one_hot(const IdArray&, std::size_t);                                                  \
    template Tensor<T> norm(const Tensor<T>&, double, const Axes&, bool);                                     \
    template IdArray argmin(const Tensor<T>&, const Axes&, bool);                                             \
    template IdArray argsort(const Tensor<T>&, std::ptrdiff_t, bool);                                         \
    template Ordered<T> cummax(const Tensor<T>&, std::ptrdiff_t);                                             \
    template Tensor<T> cumprod(const Tensor<T>&, std::ptrdiff_t);                                             \
    template Tensor<T> scatter(const Tensor<T>&, std::ptrdiff_t, const IdArray&, const Tensor<T>&);           \
    template Tensor<T> unfold(const Tensor<T>&, std::ptrdiff_t, std::size_t, std::size_t, std::size_t);       \
    template Tensor<T> conv1d(const Tensor<T>&, const Tensor<T>&, const Tensor<T>&, std::size_t, std::size_t, \
                              std::size_t);                                                                   \
    template Tensor<T> conv2d(const Tensor<T>&, const Tensor<T>&, const Tensor<T>&, std::size_t, std::size_t, \
                              std::size_t);                                                                   \
    template Tensor<T> max_pool2d(const Tensor<T>&, std::size_t, std::size_t);                                \
    template Tensor<T> avg_pool2d(const Tensor<T>&, std::size_t, std::size_t);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
