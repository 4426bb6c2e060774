//   add      y = a + b        da = dy               db = dy
//   sub      y = a - b        da = dy               db = -dy
//   mul      y = a b          da = dy b             db = dy a
//   div      y = a / b        da = dy / b           db = -dy y / b
//   maximum  y = max(a, b)    da = dy where a > b, dy / 2 where a = b, else 0; db the other way round
//   minimum  y = min(a, b)    da = dy where a < b, dy / 2 where a = b, else 0; db the other way round
//   pow      y = a^b          da = dy b a^(b-1), 0 where b = 0      db = dy y ln a, 0 where a = 0 and b >= 0
// Gradients of broadcast operands are summed back to the operand's shape by sum_to. Where an operand is NaN, so is its
// gradient.
#include "engine/ops/binary.h"

#include <cmath>

#include "engine/array/broadcast.h"
#include "engine/autograd/backward.h"
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

namespace {

// The better of two numbers: better(u, v) says whether u is, and not v.
template <class T, class Better>
Tensor<T> best(const char* op, const Tensor<T>& a, const Tensor<T>& b, const Better& better) {
    check_defined(op, a, b);
    const auto value = [=](auto u, auto v) { return xsimd::select(better(u, v) | xsimd::isnan(u), u, v); };
    const auto share = [=](auto g, auto u, auto v) {  // the gradient of u: g, g / 2, 0 or NaN
        const Vec<T> zero(T{0}), half(T{0.5});
        return xsimd::select(better(u, v), g,
                             xsimd::select(better(v, u), zero, xsimd::select(u == v, half * g, u + v)));
    };
    const Shape shape = broadcast_shape(op, a.shape(), b.shape());
    return record(op, map_arrays<T>(shape, value, a.value(), b.value()), inputs(a, b),
                  [share, a = Saved(a), b = Saved(b)](const Array<T>& dy, Gradients<T>& grads) {
                      const Shape& s = dy.shape();
                      if (grads.wanted(0)) grads.add(0, sum_to(map_arrays<T>(s, share, dy, *a, *b), a->shape()));
                      if (grads.wanted(1)) grads.add(1, sum_to(map_arrays<T>(s, share, dy, *b, *a), b->shape()));
                  });
}

}  // namespace

template <class T>
Tensor<T> maximum(const Tensor<T>& a, const Tensor<T>& b) {
    return best("maximum", a, b, [](auto u, auto v) { return u > v; });
}

template <class T>
Tensor<T> minimum(const Tensor<T>& a, const Tensor<T>& b) {
    return best("minimum", a, b, [](auto u, auto v) { return u < v; });
}

template <class T>
Tensor<T> pow(const Tensor<T>& x, const Tensor<T>& exponent) {
    check_defined("pow", x, exponent);
    const Shape shape = broadcast_shape("pow", x.shape(), exponent.shape());
    const auto power = lanewise<T>([](T a, T b) { return std::pow(a, b); });
    const Array<T> y = map_arrays<T>(shape, power, x.value(), exponent.value());
    return record(
        "pow", y, inputs(x, exponent),
        [a = Saved(x), b = Saved(exponent), y = Saved(y)](const Array<T>& dy, Gradients<T>& grads) {
            const auto da = lanewise<T>([](T g, T u, T p) { return p == 0 ? 0 : g * p * std::pow(u, p - 1); });
            const auto db = lanewise<T>([](T g, T u, T p, T z) { return u == 0 && p >= 0 ? 0 : g * z * std::log(u); });
            const Shape& s = dy.shape();
            if (grads.wanted(0)) grads.add(0, sum_to(map_arrays<T>(s, da, dy, *a, *b), a->shape()));
            if (grads.wanted(1)) grads.add(1, sum_to(map_arrays<T>(s, db, dy, *a, *b, *y), b->shape()));
        });
}

#define INKLING_INSTANTIATE(T)                                      \
    template Tensor<T> add(const Tensor<T>&, const Tensor<T>&);     \
    template Tensor<T> sub(const Tensor<T>&, const Tensor<T>&);     \
    template Tensor<T> mul(const Tensor<T>&, const Tensor<T>&);     \
    template Tensor<T> div(const Tensor<T>&, const Tensor<T>&);     \
    template Tensor<T> maximum(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> minimum(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> pow(const Tensor<T>&, const Tensor<T>&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
