//   add   y = a + b     da = dy          db = dy
//   sub   y = a - b     da = dy          db = -dy
//   mul   y = a b       da = dy b        db = dy a
//   div   y = a / b     da = dy / b      db = -dy y / b
//   neg   y = -x        dx = -dy
//   exp   y = e^x       dx = dy y
//   log   y = ln x      dx = dy / x
//   sqrt  y = x^(1/2)   dx = dy / (2 y)
//   pow   y = x^p       dx = dy p x^(p-1)
// Gradients of broadcast operands are summed back to the operand's shape by sum_to.
#include "engine/ops/elementwise.h"

#include <cmath>

#include "engine/backward.h"
#include "engine/broadcast.h"
#include "engine/kernels/map.h"

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
                      if (grads.wanted(1)) {
                          grads.add(1, sum_to(map_arrays<T>(
                                                  dy.shape(), [](auto g) { return -g; }, dy),
                                              sb));
                      }
                  });
}

template <class T>
Tensor<T> mul(const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("mul", a, b);
    const Shape shape = broadcast_shape("mul", a.shape(), b.shape());
    Array<T> y = map_arrays<T>(
        shape, [](auto u, auto v) { return u * v; }, a.value(), b.value());
    return record("mul", std::move(y), inputs(a, b),
                  [a = Saved(a), b = Saved(b)](const Array<T>& dy, Gradients<T>& grads) {
                      const auto product = [](auto g, auto other) { return g * other; };
                      const Shape sa = a->shape(), sb = b->shape();
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

namespace {

// y = f(x), dx = df(dy, x); only x is saved.
template <class T, class F, class DF>
Tensor<T> from_input(const char* op, const Tensor<T>& x, const F& f, const DF& df) {
    check_defined(op, x);
    return record(op, map_arrays<T>(x.shape(), f, x.value()), inputs(x),
                  [x = Saved(x), df](const Array<T>& dy, Gradients<T>& grads) {
                      grads.add(0, map_arrays<T>(dy.shape(), df, dy, *x));
                  });
}

// y = f(x), dx = df(dy, y); only y is saved.
template <class T, class F, class DF>
Tensor<T> from_output(const char* op, const Tensor<T>& x, const F& f, const DF& df) {
    check_defined(op, x);
    Array<T> y = map_arrays<T>(x.shape(), f, x.value());
    return record(op, y, inputs(x), [y = Saved(y), df](const Array<T>& dy, Gradients<T>& grads) {
        grads.add(0, map_arrays<T>(dy.shape(), df, dy, *y));
    });
}

}  // namespace

template <class T>
Tensor<T> neg(const Tensor<T>& x) {
    return affine(x, -1.0, 0.0);
}

template <class T>
Tensor<T> exp(const Tensor<T>& x) {
    return from_output(
        "exp", x, [](auto v) { return xsimd::exp(v); }, [](auto g, auto y) { return g * y; });
}

template <class T>
Tensor<T> log(const Tensor<T>& x) {
    return from_input(
        "log", x, [](auto v) { return xsimd::log(v); }, [](auto g, auto v) { return g / v; });
}

template <class T>
Tensor<T> sqrt(const Tensor<T>& x) {
    return from_output(
        "sqrt", x, [](auto v) { return xsimd::sqrt(v); }, [](auto g, auto y) { return g / (y + y); });
}

template <class T>
Tensor<T> pow(const Tensor<T>& x, double exponent) {
    const T p = static_cast<T>(exponent);
    const auto power = [](T e) { return lanewise<T>([e](T v) { return std::pow(v, e); }); };
    return from_input("pow", x, power(p), [p, lower = power(p - T{1})](auto g, auto v) {
        return p == T{0} ? Vec<T>(T{0}) : g * Vec<T>(p) * lower(v);
    });
}

template <class T>
Tensor<T> affine(const Tensor<T>& x, double factor, double offset) {
    check_defined("affine", x);
    const Vec<T> a(static_cast<T>(factor)), b(static_cast<T>(offset));
    return record("affine",
                  map_arrays<T>(
                      x.shape(), [a, b](auto v) { return a * v + b; }, x.value()),
                  inputs(x), [a](const Array<T>& dy, Gradients<T>& grads) {
                      grads.add(0, map_arrays<T>(
                                       dy.shape(), [a](auto g) { return a * g; }, dy));
                  });
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
