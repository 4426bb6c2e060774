//   var    y = sum_i (x_i - mean)^2 / (n - c)    dx_i = dy 2 (x_i - mean) / (n - c)
//   std    y = var^(1/2)                         dx_i = dy (x_i - mean) / (y (n - c)), 0 where y = 0
#include "engine/more/variance.h"

#include <cmath>

#include "engine/array/axes.h"
#include "engine/array/map.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/base/parallel.h"
#include "engine/kernels/norm_row.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

// var, or std if `root`. It is one op rather than six: the mean's own gradient is 0 and need not be computed, and the
// root has a gradient where all elements are equal.
template <class T>
Tensor<T> spread(const char* op, bool root, const Tensor<T>& x, const Axes& axes, bool keep_axes, double correction) {
    check_defined(op, x);
    const auto reduced = sorted_axes(op, axes, x.rank());
    const std::size_t n = count_over(x.shape(), reduced);
    const double divisor = std::max(0.0, static_cast<double>(n) - correction);
    const Vec<T> each(static_cast<T>(1.0 / static_cast<double>(n)));
    const Vec<T> factor(static_cast<T>(1.0 / divisor));
    const Shape lie = shape_without(x.shape(), reduced, true), shape = shape_without(x.shape(), reduced, keep_axes);
    Array<T> m = map_arrays<T>(
        lie, [each](auto s) { return s * each; }, sum_over(x.value(), reduced).reshaped(lie));
    const Array<T> squares = map_arrays<T>(
        x.shape(), [](auto v, auto mu) { return (v - mu) * (v - mu); }, x.value(), m);
    const Array<T> sums = sum_over<T>(squares, reduced).reshaped(shape);
    Array<T> y = map_arrays<T>(
        shape, [=](auto s) { return root ? xsimd::sqrt(s * factor) : s * factor; }, sums);
    ConstArray<T> rows;
    for (std::size_t r = 0; r < y.size(); ++r) {
        if (squares_fit(sums.data()[r])) continue;
        if (!rows.defined()) rows = rows_over(x.value(), reduced);
        const WideMoments<T> wide(n, rows.data() + r * n, true);
        const auto variance = wide.squares / static_cast<decltype(wide.squares)>(divisor);
        m.data()[r] = static_cast<T>(wide.mean);
        y.data()[r] = static_cast<T>(root ? std::sqrt(variance) : variance);
    }
    return record(op, y, inputs(x), [=, x = Saved(x), y = Saved(y)](const Tensor<T>& dy, Gradients<T>& grads) {
        const Tensor<T> v = grads.in(0, *x), s = reshape(grads.out(*y), lie), g = reshape(dy, lie);
        Axes over;
        for (const std::size_t axis : reduced) over.push_back(static_cast<std::ptrdiff_t>(axis));
        const Tensor<T> mu(m, (reduced.empty() ? v : mean(v, over, true)).node());  // forward's mean, with a graph
        const Tensor<T> d = mul(g, sub(v, mu));
        if (!root) return grads.add(0, scale(d, 2 / divisor));
        const MaskArray flat = xt::equal(s.value(), T{0});
        grads.add(0, where(flat, 0, div(scale(d, 1 / divisor), s)));
    });
}

}  // namespace

template <class T>
Tensor<T> var(const Tensor<T>& x, const Axes& axes, bool keep_axes, double correction) {
    return spread("var", false, x, axes, keep_axes, correction);
}

template <class T>
Tensor<T> std(const Tensor<T>& x, const Axes& axes, bool keep_axes, double correction) {
    return spread("std", true, x, axes, keep_axes, correction);
}

INKLING_BOTH_TYPES(var<T>, inkling::std<T>);

}  // namespace inkling
