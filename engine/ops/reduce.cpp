//   sum    y = sum_i x_i      dx_i = dy
//   mean   y = sum_i x_i / n  dx_i = dy / n
//   max    y = max_i x_i      dx_i = dy / (number of maxima) where x_i = y
#include "engine/ops/reduce.h"

#include <numeric>

#include "engine/backward.h"
#include "engine/map.h"
#include "engine/ops/elementwise.h"

namespace inkling {
namespace {

constexpr std::size_t kChunk = 4096;  // elements of a long row that are summed at a time, whatever the threads

std::vector<std::size_t> sorted_axes(const char* op, const Axes& axes, std::size_t rank) {
    std::vector<std::size_t> result(axes.empty() ? rank : 0);
    std::iota(result.begin(), result.end(), 0);
    for (const auto axis : axes) result.push_back(normalize_axis(op, axis, rank));
    std::sort(result.begin(), result.end());
    check(std::adjacent_find(result.begin(), result.end()) == result.end(), "{}: an axis is named twice", op);
    return result;
}

Shape shape_without(const Shape& shape, const std::vector<std::size_t>& axes, bool keep_axes) {
    Shape result;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool reduced = std::binary_search(axes.begin(), axes.end(), i);
        if (!reduced || keep_axes) result.push_back(reduced ? 1 : shape[i]);
    }
    return result;
}

// x as (outputs, reduced elements), contiguous: the reduced axes moved to the back.
template <class T>
ConstArray<T> as_rows(const ConstArray<T>& x, const std::vector<std::size_t>& axes) {
    Shape order;
    std::size_t width = 1;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (!std::binary_search(axes.begin(), axes.end(), i)) order.push_back(i);
    }
    for (const std::size_t axis : axes) order.push_back(axis), width *= x.shape()[axis];
    const std::size_t rows = width == 0 ? size_of(shape_without(x.shape(), axes, false)) : x.size() / width;
    return x.permuted(order).contiguous().reshaped({rows, width});
}

template <class T>
T sum_row(const T* row, std::size_t n) {
    const auto identity = [](auto v) { return v; };
    if (n <= kChunk) return simd_sum(n, identity, row);
    return chunked_sum<T>(
        n, kChunk, [&](std::size_t begin, std::size_t end) { return simd_sum(end - begin, identity, row + begin); });
}

// Sums the rows of (rows, width). Many rows are summed in pieces of a fixed number, each by one thread, which most
// likely wrote them; of a few each thread has columns of its own. Either way rows are added in order.
template <class T>
Array<T> sum_rows(const ConstArray<T>& x, std::size_t rows, std::size_t width) {
    constexpr std::size_t kRows = 64;
    const T* const from = x.data();
    const auto add = [from, width](T* to, std::size_t row, std::size_t first, std::size_t n) {
        simd_map(
            n, to, [](auto sum, auto v) { return sum + v; }, to, from + row * width + first);
    };
    if (rows > 2 * kRows) {
        const std::size_t pieces = (rows + kRows - 1) / kRows;
        Array<T> sums({pieces, width}, T{0});
        parallel_rows(pieces, kRows * width, [&](std::size_t begin, std::size_t end) {
            for (std::size_t r = begin * kRows; r < std::min(rows, end * kRows); ++r)
                add(sums.data() + r / kRows * width, r, 0, width);
        });
        return sum_rows<T>(sums, pieces, width);
    }
    Array<T> y({width}, T{0});
    parallel_for(width, std::max<std::size_t>(16, kGrain / std::max<std::size_t>(rows, 1)),
                 [&](std::size_t begin, std::size_t end) {
                     for (std::size_t r = 0; r < rows; ++r) add(y.data() + begin, r, begin, end - begin);
                 });
    return y;
}

// dy of a reduced shape, as it lies against x: reduced axes back with size 1.
template <class T>
ConstArray<T> expanded(const ConstArray<T>& dy, const Shape& x_shape, const std::vector<std::size_t>& axes) {
    return dy.reshaped(shape_without(x_shape, axes, true));
}

}  // namespace

template <class T>
Array<T> sum_over(const ConstArray<T>& x, const std::vector<std::size_t>& axes) {
    const Shape shape = shape_without(x.shape(), axes, false);
    if (axes.empty()) return x.clone();
    if (x.is_contiguous() && x.size() > 0 && axes.size() < x.rank() &&
        axes.back() == axes.size() - 1) {  // leading axes
        return sum_rows<T>(x, x.size() / size_of(shape), size_of(shape)).reshaped(shape);
    }
    const ConstArray<T> rows = as_rows(x, axes);
    Array<T> y(shape);
    T* const to = y.data();
    const std::size_t width = rows.dim(1);
    if (rows.dim(0) == 1) {
        to[0] = sum_row(rows.data(), width);
    } else {
        parallel_rows(rows.dim(0), width, [&](std::size_t begin, std::size_t end) {
            for (std::size_t r = begin; r < end; ++r) to[r] = sum_row(rows.data() + r * width, width);
        });
    }
    return y;
}

template <class T>
Tensor<T> sum(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    check_defined("sum", x);
    const auto reduced = sorted_axes("sum", axes, x.rank());
    Array<T> y = sum_over(x.value(), reduced).reshaped(shape_without(x.shape(), reduced, keep_axes));
    return record("sum", std::move(y), inputs(x),
                  [shape = x.shape(), reduced](const Array<T>& dy, Gradients<T>& grads) {
                      grads.add(0, expanded<T>(dy, shape, reduced).broadcasted(shape).clone());
                  });
}

template <class T>
Tensor<T> mean(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    check_defined("mean", x);
    const auto reduced = sorted_axes("mean", axes, x.rank());
    std::size_t n = 1;
    for (const std::size_t axis : reduced) n *= x.shape()[axis];
    check(n > 0, "mean: at least one element is required, got shape {}", x.shape());
    return scale(sum(x, axes, keep_axes), 1.0 / static_cast<double>(n));
}

template <class T>
Tensor<T> max(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    check_defined("max", x);
    const auto reduced = sorted_axes("max", axes, x.rank());
    const ConstArray<T> rows = as_rows(x.value(), reduced);
    const std::size_t width = rows.dim(1);
    check(width > 0, "max: at least one element is required, got shape {}", x.shape());
    Array<T> y(shape_without(x.shape(), reduced, keep_axes)), share(y.shape());
    T *const best = y.data(), *const part = share.data();
    parallel_rows(rows.dim(0), width, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) {
            const T* const row = rows.data() + r * width;
            if (has_nan(width, row)) {  // the maximum, and so whoever has a share in it
                best[r] = part[r] = std::numeric_limits<T>::quiet_NaN();
                continue;
            }
            best[r] = simd_max(width, row);
            part[r] = T{1} / static_cast<T>(std::count(row, row + width, best[r]));
        }
    });
    return record("max", y, inputs(x),
                  [x = Saved(x), y = Saved(y), share, reduced](const Array<T>& dy, Gradients<T>& grads) {
                      const auto lie = [&](const ConstArray<T>& a) { return expanded(a, x->shape(), reduced); };
                      const auto dx = [](auto g, auto v, auto top, auto s) {
                          return xsimd::select(v == top, g * s, s - s);  // 0, or NaN
                      };
                      grads.add(0, map_arrays<T>(x->shape(), dx, lie(dy), *x, lie(*y), lie(share)));
                  });
}

#define INKLING_INSTANTIATE(T)                                                         \
    template Array<T> sum_over(const ConstArray<T>&, const std::vector<std::size_t>&); \
    template Tensor<T> sum(const Tensor<T>&, const Axes&, bool);                       \
    template Tensor<T> mean(const Tensor<T>&, const Axes&, bool);                      \
    template Tensor<T> max(const Tensor<T>&, const Axes&, bool);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
