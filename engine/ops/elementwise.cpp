//   add   y = a + b     da = dy          db = dy
//   sub   y = a - b     da = dy          db = -dy
//   mul   y = a b       da = dy b        db = dy a
//   div   y = a / b     da = dy / b      db = -dy y / b
//   neg   y = -x        dx = -dy
//   exp   y = e^x       dx = dy y
//   log   y = ln x      dx = dy / x
//   sqrt  y = x^(1/2)   dx = dy / (2 y)
//   pow   y = x^p       dx = dy p x^(p-1)
//   affine  y = a x + b   dx = a dy
// Gradients of broadcast operands are summed back to the operand's shape by sum_to.
#include "engine/ops/elementwise.h"

#include <cmath>

#include "engine/array/broadcast.h"
#include "engine/autograd/backward.h"
#include "engine/kernels/full_range.h"
#include "engine/kernels/unary.h"

namespace inkling {

template <class T>
Tensor<T> add(const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("add", a, b);
    const Shape shape = broadcast_shape("add", a.shape(), b.shape());
    Array<T> y = map_arrays<T>(
        shape, [](auto u, auto v) { return u + v; }, a.value(), b.value());
    return record("add", std::move(y), inputs(a, b),
                  [sa = a.shape(), sb = b.shape()](const Array<T>& dy, Gradients<T>& grads) {
                      if (grads.wanted(0)) grads.add(0, sum_to(dy, sa));
                      if (grads.wanted(1)) grads.add(1, sum_to(dy, sb));
                  });
}

template <class T>
Tensor<T> sub(const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("sub", a, b);
    const Shape shape = broadcast_shape("sub", a.shape(), b.shape());
    Array<T> y = map_arrays<T>(
        shape, [](auto u, auto v) { return u - v; }, a.value(), b.value());
    return record("sub", std::move(y), inputs(a, b),
                  [sa = a.shape(), sb = b.shape()](const Array<T>& dy, Gradients<T>& grads) {
                      if (grads.wanted(0)) grads.add(0, sum_to(dy, sa));
                      const auto minus = [](auto g) { return -g; };
                      if (grads.wanted(1)) grads.add(1, sum_to(map_arrays<T>(dy.shape(), minus, dy), sb));
                  });
}

template <class T>
Tensor<T> mul(const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("mul", a, b);
    const Shape shape = broadcast_shape("mul", a.shape(), b.shape());
    Array<T> y = map_arrays<T>(
        shape, [](auto u, auto v) { return u * v; }, a.value(), b.value());
    return record("mul", std::move(y), inputs(a, b),
                  [a = saved_for(b, a), b = saved_for(a, b), sa = a.shape(), sb = b.shape()](const Array<T>& dy,
                                                                                             Gradients<T>& grads) {
                      const auto product = [](auto g, auto other) { return g * other; };
                      if (grads.wanted(0)) grads.add(0, sum_to(map_arrays<T>(dy.shape(), product, dy, *b), sa));
                      if (grads.wanted(1)) grads.add(1, sum_to(map_arrays<T>(dy.shape(), product, dy, *a), sb));
                  });
}

template <class T>
Tensor<T> div(const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("div", a, b);
    const Shape shape = broadcast_shape("div", a.shape(), b.shape());
    Array<T> y = map_arrays<T>(
        shape, [](auto u, auto v) { return u / v; }, a.value(), b.value());
    return record("div", y, inputs(a, b),
                  [sa = a.shape(), b = Saved(b), y = Saved(y)](const Array<T>& dy, Gradients<T>& grads) {
                      if (grads.wanted(0)) {
                          const auto da = [](auto g, auto v) { return g / v; };
                          grads.add(0, sum_to(map_arrays<T>(dy.shape(), da, dy, *b), sa));
                      }
                      if (grads.wanted(1)) {
                          const auto db = [](auto g, auto q, auto v) { return -g * q / v; };
                          grads.add(1, sum_to(map_arrays<T>(dy.shape(), db, dy, *y, *b), b->shape()));
                      }
                  });
}

template <class T>
Tensor<T> neg(const Tensor<T>& x) {
    return affine(x, -1.0, 0.0);
}

template <class T>
Tensor<T> exp(const Tensor<T>& x) {
    return unary_op(
        "exp", x, Saves::output, [](auto v) { return full_range::exp(v); }, [](auto dy, auto y) { return dy * y; });
}

template <class T>
Tensor<T> log(const Tensor<T>& x) {
    return unary_op(
        "log", x, Saves::input, [](auto v) { return full_range::log(v); }, [](auto dy, auto v) { return dy / v; });
}

template <class T>
Tensor<T> sqrt(const Tensor<T>& x) {
    return unary_op(
        "sqrt", x, Saves::output, [](auto v) { return xsimd::sqrt(v); }, [](auto dy, auto y) { return dy / (y + y); });
}

template <class T>
Tensor<T> pow(const Tensor<T>& x, double exponent) {
    const T p = static_cast<T>(exponent);
    const auto power = [](T e) { return lanewise<T>([e](T v) { return std::pow(v, e); }); };
    return unary_op("pow", x, Saves::input, power(p), [p, lower = power(p - T{1})](auto dy, auto v) {
        return p == T{0} ? Vec<T>(T{0}) : dy * Vec<T>(p) * lower(v);
    });
}

template <class T>
Tensor<T> affine(const Tensor<T>& x, double factor, double offset) {
    const Vec<T> a(static_cast<T>(factor)), b(static_cast<T>(offset));
    return unary_op(
        "affine", x, Saves::nothing, [a, b](auto v) { return a * v + b; }, [a](auto dy, auto) { return a * dy; });
}

#define INKLING_INSTANTIATE(T)                                  \
    template Tensor<T> add(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> sub(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> mul(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> div(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> neg(const Tensor<T>&);                   \
    template Tensor<T> exp(const Tensor<T>&);                   \
    template Tensor<T> log(const Tensor<T>&);                   \
    template Tensor<T> sqrt(const Tensor<T>&);                  \
    template Tensor<T> pow(const Tensor<T>&, double);           \
    template Tensor<T> affine(const Tensor<T>&, double, double);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
