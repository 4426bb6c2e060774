//   sum    y = sum_i x_i      dx_i = dy
//   mean   y = sum_i x_i / n  dx_i = dy / n
//   max    y = max_i x_i      dx_i = dy / (number of maxima) where x_i = y
#include "engine/ops/reduce.h"

#include <numeric>

#include "engine/backward.h"
#include "engine/kernels/map.h"
#include "engine/ops/elementwise.h"
#include "engine/parallel.h"
#include "engine/sum.h"

namespace inkling {
namespace {

std::vector<std::size_t> sorted_axes(const char* op, const Axes& axes, std::size_t rank) {
    std::vector<std::size_t> result(axes.empty() ? rank : 0);
    std::iota(result.begin(), result.end(), 0);
    for (const auto axis : axes) result.push_back(normalize_axis(op, axis, rank));
    std::sort(result.begin(), result.end());
    check(std::adjacent_find(result.begin(), result.end()) == result.end(), "{}: an axis is named twice", op);
    return result;
}

// dy of a reduced shape, as it lies against x: reduced axes back with size 1.
template <class T>
ConstArray<T> expanded(const ConstArray<T>& dy, const Shape& x_shape, const std::vector<std::size_t>& axes) {
    return dy.reshaped(shape_without(x_shape, axes, true));
}

}  // namespace

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
    const ConstArray<T> rows = rows_over(x.value(), reduced);
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

#define INKLING_INSTANTIATE(T)                                    \
    template Tensor<T> sum(const Tensor<T>&, const Axes&, bool);  \
    template Tensor<T> mean(const Tensor<T>&, const Axes&, bool); \
    template Tensor<T> max(const Tensor<T>&, const Axes&, bool);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
