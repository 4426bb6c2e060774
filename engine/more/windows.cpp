#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/base/parallel.h"
#include "engine/kernels/simd.h"
#include "engine/more/composed.h"
#include "engine/more/window_axes.h"
#include "engine/ops/elementwise/binary.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/select.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

// Along one axis: `more` elements after the padding complete the last window.
struct PoolAxis {
    std::size_t in, size, stride, padding, dilation, more, windows;
};

// Windows on the last two axes. With ceil_mode a window must start inside x or the padding before it.
template <class T>
std::array<PoolAxis, 2> pool_axes(const char* op, const Tensor<T>& x, const AxisSizes& sizes, const PoolOptions& o) {
    check_defined(op, x);
    check(x.rank() >= 2, "{}: expected at least two axes, got shape {}", op, x.shape());
    const Shape size = for_axes(op, sizes, 2), stride = for_axes(op, o.stride.empty() ? sizes : o.stride, 2);
    const Shape sides = for_axes(op, o.padding, 2), dilation = for_axes(op, o.dilation, 2);
    std::array<PoolAxis, 2> axes;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t n = x.shape()[x.rank() - 2 + i], p = sides[i], span = dilation[i] * (size[i] - 1) + 1;
        axes[i] = {n, size[i], stride[i], p, dilation[i], 0, 0};
        if (o.ceil_mode && n + 2 * p >= span && stride[i] > 0) {
            std::size_t begin = (n + 2 * p - span + stride[i] - 1) / stride[i] * stride[i];
            if (begin >= n + p) begin -= stride[i];
            axes[i].more = std::max(begin + span, n + 2 * p) - (n + 2 * p);
        }
        axes[i].windows = count_windows(op, n + 2 * p + axes[i].more, size[i], stride[i], dilation[i]);
    }
    return axes;
}

// (..., H', W', Kh, Kw); `extra` fills positions after the padding.
template <class T>
Tensor<T> pool_windows(const Tensor<T>& x, const std::array<PoolAxis, 2>& axes, double padding, double extra) {
    std::vector<std::ptrdiff_t> around, more;
    for (const PoolAxis& axis : {axes[1], axes[0]}) {  // the last axis comes first in pad()
        around.insert(around.end(), 2, static_cast<std::ptrdiff_t>(axis.padding));
        more.insert(more.end(), {0, static_cast<std::ptrdiff_t>(axis.more)});
    }
    Tensor<T> y = pad(pad(x, around, padding), more, extra);
    for (std::size_t i = 0; i < 2; ++i) {
        const auto axis = static_cast<std::ptrdiff_t>(x.rank() - 2 + i);
        y = unfold(y, axis, axes[i].size, axes[i].stride, axes[i].dilation);
    }
    return y;
}

// Calls f(place, begin, end, step) for each element of the windows in row i of a plane: of window j, begin <= j < end,
// it is at place + j step. The compiler knows steps of 1 and 2, and takes vectors.
template <class F>
void each_place(const std::array<PoolAxis, 2>& axes, std::size_t i, const F& f) {
    const PoolAxis &down = axes[0], &across = axes[1];
    const auto stride = static_cast<int>(across.stride), in = static_cast<int>(across.in);
    for (std::size_t k = 0; k < down.size * across.size; ++k) {
        const std::size_t row = i * down.stride + k / across.size * down.dilation;  // with the padding
        if (row < down.padding || row - down.padding >= down.in) continue;
        const int first = static_cast<int>(k % across.size * across.dilation) - static_cast<int>(across.padding);
        const int place = static_cast<int>((row - down.padding) * across.in) + first;
        const auto windows_before = [=](int column) { return std::max(0, (column + stride - 1) / stride); };
        const int begin = windows_before(-first);
        const int end = std::min(static_cast<int>(across.windows), windows_before(in - first));
        if (stride == 1) {
            f(place, begin, end, std::integral_constant<int, 1>());
        } else if (stride == 2) {
            f(place, begin, end, std::integral_constant<int, 2>());
        } else {
            f(place, begin, end, stride);
        }
    }
}

// The first maxima of one plane's windows, and their places in the plane; false if a window has a NaN, or only padding.
template <class T>
bool find_maxima(const std::array<PoolAxis, 2>& axes, const T* x, T* __restrict y, std::int32_t* __restrict ids) {
    const std::size_t windows = axes[1].windows;
    if (has_nan(axes[0].in * axes[1].in, x)) return false;
    std::fill_n(y, axes[0].windows * windows, -std::numeric_limits<T>::infinity());
    std::fill_n(ids, axes[0].windows * windows, -1);
    for (std::size_t i = 0; i < axes[0].windows; ++i, y += windows, ids += windows) {
        each_place(axes, i, [=](int place, int begin, int end, auto step) {
            for (int j = begin; j < end; ++j) {
                const int at = place + j * step;
                const bool larger = (x[at] > y[j]) | (ids[j] < 0);
                y[j] = larger ? x[at] : y[j];
                ids[j] = larger ? at : ids[j];
            }
        });
        if (std::any_of(ids, ids + windows, [](std::int32_t id) { return id < 0; })) return false;
    }
    return true;
}

}  // namespace

template <class T>
Tensor<T> unfold(const Tensor<T>& x, std::ptrdiff_t axis, std::size_t size, std::size_t step, std::size_t dilation) {
    check_defined("unfold", x);
    const std::size_t n = x.shape()[normalize_axis("unfold", axis, x.rank())];
    const std::size_t span =
        (count_windows("unfold", n, size, step, dilation) - 1) * step + 1;  // of the first elements
    std::vector<Tensor<T>> places;
    for (std::size_t i = 0; i < size; ++i) places.push_back(slice(x, axis, i * dilation, i * dilation + span, step));
    return stack(places, -1);
}

// The gradient goes to the first maximum. A window with a NaN, or with only padding, takes the plain way.
template <class T>
Tensor<T> max_pool2d(const Tensor<T>& x, const AxisSizes& size, const PoolOptions& options) {
    const std::array<PoolAxis, 2> axes = pool_axes("max_pool2d", x, size, options);
    Shape shape = x.shape();
    std::ranges::copy(std::array{axes[0].windows, axes[1].windows}, shape.end() - 2);
    const std::size_t in = axes[0].in * axes[1].in, out = axes[0].windows * axes[1].windows;
    const std::size_t planes = size_of(shape) / out;
    Array<T> y(shape);
    IdArray ids({planes, out});
    std::atomic<bool> plain = false;
    parallel_rows(planes, in, [&, from = x.value().contiguous()](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end && !plain; ++p) {
            if (!find_maxima(axes, from.data() + p * in, y.data() + p * out, ids.data() + p * out)) plain = true;
        }
    });
    if (plain) {
        constexpr double low = -std::numeric_limits<double>::infinity();
        const Tensor<T> windows = flatten(pool_windows(x, axes, low, low), -2, -1);
        const Tensor<T> first = squeeze(gather(windows, -1, argmax(windows, -1, true)), -1);
        const MaskArray broken = xt::not_equal(first.value(), first.value());  // NaN: the gradient is, too
        return where(broken, max(windows, -1), first);
    }
    auto gradient = [=, whole = x.shape()](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add_through(dy, [&] {  // the values do not matter
            const Tensor<T> rows = reshape(grads.in(0, Array<T>({}, T{0}).broadcasted(whole)), Shape{planes, in});
            return reshape(gather(rows, 1, ids), shape);
        });
    };
    auto fast = [=, whole = x.shape()](const Array<T>& dy, Gradients<T>& grads) {
        Array<T> dx(whole);
        const Array<T> dense = dy.contiguous();
        parallel_rows(planes, in, [&, to = dx.data(), from = dense.data(), id = ids.data()](auto begin, auto end) {
            std::fill(to + begin * in, to + end * in, T{0});
            for (std::size_t p = begin; p < end; ++p)
                for (std::size_t i = p * out; i < (p + 1) * out; ++i)
                    to[p * in + static_cast<std::size_t>(id[i])] += from[i];
        });
        grads.add(0, std::move(dx));
    };
    return record("max_pool2d", std::move(y), inputs(x), std::move(gradient), std::move(fast));
}

// y = (sum of a window) / count, and each element of a window gets dy / count.
template <class T>
Tensor<T> avg_pool2d(const Tensor<T>& x, const AxisSizes& size, const PoolOptions& options) {
    const std::array<PoolAxis, 2> axes = pool_axes("avg_pool2d", x, size, options);
    Shape shape = x.shape();
    std::ranges::copy(std::array{axes[0].windows, axes[1].windows}, shape.end() - 2);
    const std::size_t in = axes[0].in * axes[1].in, rows = axes[0].windows, across = axes[1].windows;
    const std::size_t out = rows * across, planes = size_of(shape) / out;
    const Tensor<T> ones = Tensor<T>::ones(Shape{axes[0].in, axes[1].in});
    const auto sums = [=](const Tensor<T>& a, double around) {
        return sum(pool_windows(a, axes, around, 0), {-2, -1});
    };
    const ConstArray<T> counts = sums(ones, options.count_padding).value().contiguous();
    Array<T> y(shape);
    parallel_rows(planes, in, [&, from = x.value().contiguous()](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
            for (std::size_t i = 0; i < rows; ++i) {
                T* __restrict to = y.data() + p * out + i * across;
                const T *plane = from.data() + p * in, *count = counts.data() + i * across;
                std::fill_n(to, across, T{0});
                each_place(axes, i, [=](int place, int first, int last, auto step) {
                    for (int j = first; j < last; ++j) to[j] += plane[place + j * step];
                });
                for (std::size_t j = 0; j < across; ++j) to[j] /= count[j];
            }
        }
    });
    auto gradient = [=, whole = x.shape()](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add_through(dy, [&] {  // the values do not matter
            return div(sums(grads.in(0, Array<T>({}, T{0}).broadcasted(whole)), 0), Tensor<T>(counts));
        });
    };
    auto fast = [=, whole = x.shape()](const Array<T>& dy, Gradients<T>& grads) {
        Array<T> dx(whole);
        const Array<T> dense = dy.contiguous();
        parallel_rows(planes, in, [&, to = dx.data()](std::size_t begin, std::size_t end) {
            std::fill(to + begin * in, to + end * in, T{0});
            std::vector<T> part(across);
            for (std::size_t i = begin * rows; i < end * rows; ++i) {
                const T *from = dense.data() + i * across, *count = counts.data() + i % rows * across;
                for (std::size_t j = 0; j < across; ++j) part[j] = from[j] / count[j];
                T* __restrict plane = to + i / rows * in;
                each_place(axes, i % rows, [=, g = part.data()](int place, int first, int last, auto step) {
                    for (int j = first; j < last; ++j) plane[place + j * step] += g[j];
                });
            }
        });
        grads.add(0, std::move(dx));
    };
    return record("avg_pool2d", std::move(y), inputs(x), std::move(gradient), std::move(fast));
}

template <class T>
Tensor<T> interpolate(const Tensor<T>& x, const AxisSizes& sizes, Interpolation mode, bool align_corners) {
    check_defined("interpolate", x);
    check(sizes.size() <= x.rank(), "interpolate: at most {} sizes are possible for shape {}, got {}", x.rank(),
          x.shape(), sizes.size());
    Tensor<T> y = x;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t k = x.rank() - sizes.size() + i, n = x.shape()[k], m = sizes[i];
        check(n > 0, "interpolate: expected at least one element, got shape {}", x.shape());
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

INKLING_BOTH_TYPES(unfold<T>, max_pool2d<T>, avg_pool2d<T>, interpolate<T>);

}  // namespace inkling
