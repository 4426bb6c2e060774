//   softmax      y_i = e^(x_i - m) / sum_j e^(x_j - m), m = max_j x_j    dx_i = y_i (dy_i - sum_j y_j dy_j)
//   log_softmax  y_i = x_i - m - ln sum_j e^(x_j - m)                    dx_i = dy_i - e^y_i sum_j dy_j
// The maximum is subtracted so that exp() cannot overflow, and before the logarithm, which a large one would swallow.
#include "engine/ops/softmax.h"

#include <cmath>

#include "engine/backward.h"
#include "engine/ops/shape.h"
#include "engine/parallel.h"
#include "engine/simd.h"

namespace inkling {
namespace {

// row(x, y, n) over the last axis of contiguous arrays.
template <class T, class Row>
void for_rows(const Array<T>& x, Array<T>& y, const Row& row) {
    const std::size_t n = x.dim(-1);
    parallel_rows(x.size() / n, n, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) row(x.data() + r * n, y.data() + r * n, n);
    });
}

template <class T>
T row_maximum(const char* op, const T* x, std::size_t n) {
    const T m = simd_max(n, x);
    check(m > -std::numeric_limits<T>::infinity() || std::isnan(x[0]),
          "{}: a row must have a value above -inf: every place of one is masked", op);
    return m;
}

// The op along the last axis of x; other axes are brought there and back.
template <class T, class Op>
Tensor<T> along(const char* op, const Tensor<T>& x, std::ptrdiff_t axis, const Op& last_axis) {
    check(x.rank() > 0, "{}: at least one axis is required, got shape {}", op, x.shape());
    const std::size_t k = normalize_axis(op, axis, x.rank());
    check(x.shape()[k] > 0, "{}: the axis must not be empty, got shape {}", op, x.shape());
    if (k + 1 == x.rank()) return last_axis(x);
    return transpose(last_axis(transpose(x, axis, -1)), axis, -1);
}

}  // namespace

template <class T>
Tensor<T> softmax(const Tensor<T>& x, std::ptrdiff_t axis) {
    return along("softmax", x, axis, [](const Tensor<T>& rows) {
        Array<T> y(rows.shape());
        for_rows(rows.value().contiguous(), y, [](const T* in, T* out, std::size_t n) {
            const Vec<T> m(row_maximum("softmax", in, n));
            simd_map(
                n, out, [m](auto v) { return xsimd::exp(v - m); }, in);
            const Vec<T> inverse(T{1} / simd_sum(
                                            n, [](auto v) { return v; }, out));
            simd_map(
                n, out, [inverse](auto e) { return e * inverse; }, out);
        });
        return record("softmax", y, inputs(rows), [y = Saved(y)](const Array<T>& dy, Gradients<T>& grads) {
            Array<T> dx = dy.clone();
            for_rows(*y, dx, [](const T* p, T* d, std::size_t n) {
                const Vec<T> dot(simd_sum(
                    n, [](auto a, auto b) { return a * b; }, p, d));
                simd_map(
                    n, d, [dot](auto a, auto g) { return a * (g - dot); }, p, d);
            });
            grads.add(0, dx);
        });
    });
}

template <class T>
Tensor<T> log_softmax(const Tensor<T>& x, std::ptrdiff_t axis) {
    return along("log_softmax", x, axis, [](const Tensor<T>& rows) {
        Array<T> y(rows.shape());
        for_rows(rows.value().contiguous(), y, [](const T* in, T* out, std::size_t n) {
            const T m = row_maximum("log_softmax", in, n);
            const Vec<T> vm(m);
            const Vec<T> log_sum(std::log(simd_sum(
                n, [vm](auto v) { return xsimd::exp(v - vm); }, in)));
            simd_map(
                n, out, [vm, log_sum](auto v) { return (v - vm) - log_sum; }, in);
        });
        return record("log_softmax", y, inputs(rows), [y = Saved(y)](const Array<T>& dy, Gradients<T>& grads) {
            Array<T> dx = dy.clone();
            for_rows(*y, dx, [](const T* l, T* d, std::size_t n) {
                const Vec<T> total(simd_sum(
                    n, [](auto g) { return g; }, d));
                simd_map(
                    n, d, [total](auto a, auto g) { return g - xsimd::exp(a) * total; }, l, d);
            });
            grads.add(0, dx);
        });
    });
}

template Tensor<float> softmax(const Tensor<float>&, std::ptrdiff_t);
template Tensor<double> softmax(const Tensor<double>&, std::ptrdiff_t);
template Tensor<float> log_softmax(const Tensor<float>&, std::ptrdiff_t);
template Tensor<double> log_softmax(const Tensor<double>&, std::ptrdiff_t);

}  // namespace inkling
