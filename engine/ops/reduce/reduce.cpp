//   sum    y = sum_i x_i      dx_i = dy
//   mean   y = sum_i x_i / n  dx_i = dy / n
//   max    y = max_i x_i      dx_i = dy / (number of maxima) where x_i = y; min likewise, as -max(-x)
//   prod   y = prod_i x_i     dx_i = dy prod_{j<i} x_j prod_{j>i} x_j
//   logsumexp  y = m + ln sum_i e^(x_i - m), m = max_i x_i   dx_i = dy e^(x_i - y)
//   cumsum y_i = sum_{j<=i} x_j                  dx_i = sum_{j>=i} dy_j
#include "engine/ops/reduce/reduce.h"

#include <algorithm>
#include <cmath>

#include "engine/array/map.h"
#include "engine/array/rows.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/kernels/norm_row.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

// The maximum for sign 1, the minimum for sign -1.
template <class T>
Tensor<T> extremum(const char* op, T sign, const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    check_defined(op, x);
    const auto reduced = sorted_axes(op, axes, x.rank());
    ConstArray<T> rows = rows_over(x.value(), reduced);
    if (sign < 0)
        rows = map_arrays<T>(
            rows.shape(), [](auto v) { return -v; }, rows);
    const std::size_t width = rows.dim(1);
    check(width > 0, "{}: expected at least one element, got shape {}", op, x.shape());
    Array<T> y(shape_without(x.shape(), reduced, keep_axes)), share(y.shape());
    T *const best = y.data(), *const part = share.data();
    each_row(rows.dim(0), width, [&](std::size_t r) {
        const T* const row = rows.data() + r * width;
        if (has_nan(width, row)) {  // then the maximum and its gradient are NaN
            best[r] = part[r] = std::numeric_limits<T>::quiet_NaN();
            return;
        }
        const T top = simd_max(width, row);
        best[r] = sign * top;
        part[r] = T{1} / static_cast<T>(std::count(row, row + width, top));
    });
    const Shape kept = shape_without(x.shape(), reduced, true);
    return record(op, y, inputs(x),
                  [x = Saved(x), y = Saved(y), share, kept](const Tensor<T>& dy, Gradients<T>& grads) {
                      const ConstArray<T> top = y->reshaped(kept), of_top = share.reshaped(kept);
                      const MaskArray is_top = xt::equal(*x, top);
                      const Array<T> elsewhere = of_top - of_top;  // 0 or NaN
                      grads.add(0, where(is_top, reshape(dy, kept) * of_top, elsewhere));
                  });
}

// The op on x as (rows, width), the axes moved to the back; it returns (rows).
template <class T, class Op>
Tensor<T> over_rows(const char* op, const Tensor<T>& x, const Axes& axes, bool keep_axes, const Op& of_rows) {
    check_defined(op, x);
    const auto reduced = sorted_axes(op, axes, x.rank());
    const std::size_t width = count_over(x.shape(), reduced);
    const Shape shape = shape_without(x.shape(), reduced, keep_axes);
    const Tensor<T> rows = reshape(permute(x, axes_last(x.rank(), reduced)), {size_of(shape), width});
    return reshape(of_rows(rows), shape);
}

// x_0 x_1 ... along the last axis of (rows, width), as a chain of products.
template <class T>
Tensor<T> chained_product(const Tensor<T>& rows) {
    Tensor<T> y = Tensor<T>::ones({rows.dim(0), 1});
    for (std::size_t i = 0; i < rows.dim(1); ++i) y = mul(y, slice(rows, 1, i, i + 1));
    return reshape(y, {rows.dim(0)});
}

// A product whose parts may leave the range of T: m 2^e, with m rounded as the product itself would be.
template <class T>
struct Product {
    T m;
    std::int64_t e = 0;

    explicit Product(T x) : m(x) { scale(); }
    void operator*=(const Product& x) {
        m *= x.m, e += x.e;
        scale();
    }
    T value() const { return std::ldexp(m, static_cast<int>(std::clamp<std::int64_t>(e, -5000, 5000))); }

  private:
    void scale() {
        int more = 0;
        if (m != 0 && std::isfinite(m)) m = std::frexp(m, &more);
        e += more;
    }
};

// The running sums along the last axis, from the front or from the back.
template <class T>
Tensor<T> running_sum(const Tensor<T>& x, bool from_back) {
    Array<T> y(x.shape());
    each_row(x.value().contiguous(), y, [from_back](const T* in, T* out, std::size_t n, std::size_t) {
        double total = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t j = from_back ? n - 1 - i : i;
            total += static_cast<double>(in[j]);
            out[j] = static_cast<T>(total);
        }
    });
    return record("cumsum", y, inputs(x),
                  [from_back](const Tensor<T>& dy, Gradients<T>& grads) { grads.add(0, running_sum(dy, !from_back)); });
}

}  // namespace

template <class T>
Tensor<T> sum(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    check_defined("sum", x);
    const auto reduced = sorted_axes("sum", axes, x.rank());
    Array<T> y = sum_over(x.value(), reduced).reshaped(shape_without(x.shape(), reduced, keep_axes));
    return record("sum", std::move(y), inputs(x),
                  [shape = x.shape(), reduced](const Tensor<T>& dy, Gradients<T>& grads) {
                      grads.add(0, expand(reshape(dy, shape_without(shape, reduced, true)), shape));
                  });
}

template <class T>
Tensor<T> sum_to(const Tensor<T>& x, const Shape& shape) {
    check_defined("sum_to", x);
    if (x.shape() == shape) return x;
    Axes axes;
    for (const std::size_t axis : broadcast_axes(shape, x.shape())) axes.push_back(static_cast<std::ptrdiff_t>(axis));
    return reshape(axes.empty() ? x : sum(x, axes), shape);
}

template <class T>
Tensor<T> mean(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    check_defined("mean", x);
    const auto reduced = sorted_axes("mean", axes, x.rank());
    const std::size_t n = count_over(x.shape(), reduced);
    return scale(sum(x, axes, keep_axes), 1.0 / static_cast<double>(n));
}

template <class T>
Tensor<T> max(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    return extremum("max", T{1}, x, axes, keep_axes);
}

template <class T>
Tensor<T> min(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    return extremum("min", T{-1}, x, axes, keep_axes);
}

// The products exclude x_i, because dy y / x would be 0 / 0 where an element is 0.
template <class T>
Tensor<T> prod(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    return over_rows("prod", x, axes, keep_axes, [](const Tensor<T>& rows) {
        Array<T> y({rows.dim(0)}, T{1});
        each_row(rows.value().contiguous(), y, [](const T* in, T* out, std::size_t n, std::size_t) {
            Product<T> all(T{1});
            for (std::size_t i = 0; i < n; ++i) all *= Product<T>(in[i]);
            *out = all.value();
        });
        const auto through = [x = Saved(rows)](const Tensor<T>& dy, Gradients<T>& grads) {
            grads.add_through(dy, [&] { return chained_product(grads.in(0, *x)); });
        };
        return record("prod", y, inputs(rows), through, [x = Saved(rows)](const Array<T>& dy, Gradients<T>& grads) {
            Array<T> dx(x->shape());
            const ConstArray<T> g = dy.contiguous();
            each_row(x->contiguous(), dx, [&](const T* in, T* out, std::size_t n, std::size_t r) {
                std::vector<Product<T>> before;
                Product<T> others(T{1});
                for (std::size_t i = 0; i < n; others *= Product<T>(in[i++])) before.push_back(others);
                others = Product<T>(g.data()[r]);
                for (std::size_t i = n; i-- > 0; others *= Product<T>(in[i])) {
                    before[i] *= others;
                    out[i] = before[i].value();
                }
            });
            grads.add(0, dx);
        });
    });
}

template <class T>
Tensor<T> logsumexp(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    return over_rows("logsumexp", x, axes, keep_axes, [&x](const Tensor<T>& rows) {
        check(rows.dim(1) > 0, "logsumexp: expected at least one element, got shape {}", x.shape());
        const std::size_t n_rows = rows.dim(0);
        Array<T> parts(
            {n_rows, 2});  // m and the logarithm: from y alone the gradient would lose digits where m is large
        each_row(rows.value().contiguous(), parts, [](const T* in, T* out, std::size_t n, std::size_t) {
            const T top = simd_max(n, in), m = std::isinf(top) ? T{0} : top;  // then the sum is 0, inf or NaN
            const Vec<T> shift(m);
            out[0] = m;
            out[1] =
                portable::log(simd_sum(n, {in}, [shift](auto sum, auto v) { return sum + portable::exp(v - shift); }));
        });
        const Array<T> m = parts.sliced(1, 0, 1), l = parts.sliced(1, 1, 2);
        Array<T> y = map_arrays<T>(
            m.shape(), [](auto a, auto b) { return a + b; }, m, l);
        return record("logsumexp", y.reshaped({n_rows}), inputs(rows),
                      [x = Saved(rows), m, l](const Tensor<T>& dy, Gradients<T>& grads) {
                          const Shape lie = m.shape();
                          const Tensor<T> log_sum = reshape(grads.out(l.reshaped(dy.shape())), lie);  // y - m
                          const Tensor<T> v = sub(grads.in(0, *x), Tensor<T>(m));
                          grads.add(0, mul(reshape(dy, lie), exp(sub(v, log_sum))));
                      });
    });
}

template <class T>
IdArray argmax(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    check_defined("argmax", x);
    const auto reduced = sorted_axes("argmax", axes, x.rank());
    const ConstArray<T> rows = rows_over(x.value(), reduced);
    const std::size_t width = rows.dim(1);
    check(width > 0, "argmax: expected at least one element, got shape {}", x.shape());
    IdArray ids(shape_without(x.shape(), reduced, keep_axes));
    std::int32_t* const to = ids.data();
    each_row(rows.dim(0), width, [&](std::size_t r) {
        const T *const row = rows.data() + r * width, *best = row;
        for (const T* v = row; v < row + width && !std::isnan(*best); ++v) {
            if (!(*v <= *best)) best = v;
        }
        to[r] = static_cast<std::int32_t>(best - row);
    });
    return ids;
}

template <class T>
Tensor<T> cumsum(const Tensor<T>& x, std::ptrdiff_t axis) {
    check_defined("cumsum", x);
    if (x.rank() == 0) return as_row(x, [axis](const Tensor<T>& row) { return cumsum(row, axis); });
    if (normalize_axis("cumsum", axis, x.rank()) + 1 != x.rank())
        return transpose(cumsum(transpose(x, axis, -1), -1), axis, -1);
    return running_sum(x, false);
}

INKLING_BOTH_TYPES(sum<T>, mean<T>, max<T>, min<T>, prod<T>, logsumexp<T>, argmax<T>, cumsum<T>);
template Tensor<float> sum_to(const Tensor<float>&, const Shape&);
template Tensor<double> sum_to(const Tensor<double>&, const Shape&);

}  // namespace inkling
