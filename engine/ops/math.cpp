//   abs      y = |x|                 dx = dy sign(x)
//   sin      y = sin x               dx = dy cos x
//   cos      y = cos x               dx = -dy sin x
//   log1p    y = ln(1 + x)           dx = dy / (1 + x)
//   expm1    y = e^x - 1             dx = dy e^x
//   erf      y = erf x               dx = dy 2 / sqrt(pi) e^(-x^2)
//   clamp    y = min(max(x, l), h)   dx = dy where l < x < h, else 0
//   maximum  y = max(a, b)           da = dy where a > b, dy / 2 where a = b, else 0; db the other way round
//   minimum  y = min(a, b)           da = dy where a < b, dy / 2 where a = b, else 0; db the other way round
//   pow      y = a^b                 da = dy b a^(b-1), 0 where b = 0      db = dy y ln a, 0 where a = 0 and b >= 0
// Gradients of broadcast operands are summed back to the operand's shape by sum_to. Where x is NaN, so is its gradient.
#include "engine/ops/math.h"

#include <cmath>
#include <numbers>

#include "engine/array/broadcast.h"
#include "engine/autograd/backward.h"
#include "engine/kernels/full_range.h"
#include "engine/kernels/unary.h"

namespace inkling {
namespace {

// Not xsimd's: their bits depend on what else is in the vector, and xsimd 8 has numbers for sin(inf).
template <class T>
auto sine() {
    return lanewise<T>([](T v) { return std::sin(v); });
}
template <class T>
auto cosine() {
    return lanewise<T>([](T v) { return std::cos(v); });
}

}  // namespace

template <class T>
Tensor<T> abs(const Tensor<T>& x) {
    const Vec<T> zero(T{0});
    return unary_op(
        "abs", x, Saves::input, [](auto v) { return xsimd::abs(v); },
        [zero](auto dy, auto v) {
            return xsimd::select(v > zero, dy, xsimd::select(v < zero, -dy, v * dy));  // 0 or NaN
        });
}

template <class T>
Tensor<T> sin(const Tensor<T>& x) {
    return unary_op("sin", x, Saves::input, sine<T>(), [](auto dy, auto v) { return dy * cosine<T>()(v); });
}

template <class T>
Tensor<T> cos(const Tensor<T>& x) {
    return unary_op("cos", x, Saves::input, cosine<T>(), [](auto dy, auto v) { return -dy * sine<T>()(v); });
}

template <class T>
Tensor<T> log1p(const Tensor<T>& x) {
    return unary_op(
        "log1p", x, Saves::input, [](auto v) { return xsimd::log1p(v); },
        [](auto dy, auto v) { return dy / (Vec<T>(T{1}) + v); });
}

template <class T>
Tensor<T> expm1(const Tensor<T>& x) {
    return unary_op(
        "expm1", x, Saves::input, [](auto v) { return full_range::expm1(v); },
        [](auto dy, auto v) { return dy * full_range::exp(v); });
}

template <class T>
Tensor<T> erf(const Tensor<T>& x) {
    const Vec<T> c(static_cast<T>(2 * std::numbers::inv_sqrtpi));
    return unary_op(
        "erf", x, Saves::input, [](auto v) { return full_range::erf(v); },
        [c](auto dy, auto v) { return dy * c * full_range::exp(-v * v); });
}

template <class T>
Tensor<T> clamp(const Tensor<T>& x, double lowest, double highest) {
    check_defined("clamp", x);
    check(lowest <= highest, "clamp: the lowest value must not be above the highest, got {} and {} for shape {}",
          lowest, highest, x.shape());
    const Vec<T> l(static_cast<T>(lowest)), h(static_cast<T>(highest)), zero(T{0});
    return unary_op(
        "clamp", x, Saves::input, [=](auto v) { return xsimd::select(v < l, l, xsimd::select(v > h, h, v)); },
        [=](auto dy, auto v) { return xsimd::select((v > l) & (v < h), dy, xsimd::select(v == v, zero, v)); });
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
    template Tensor<T> abs(const Tensor<T>&);                       \
    template Tensor<T> sin(const Tensor<T>&);                       \
    template Tensor<T> cos(const Tensor<T>&);                       \
    template Tensor<T> log1p(const Tensor<T>&);                     \
    template Tensor<T> expm1(const Tensor<T>&);                     \
    template Tensor<T> erf(const Tensor<T>&);                       \
    template Tensor<T> clamp(const Tensor<T>&, double, double);     \
    template Tensor<T> maximum(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> minimum(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> pow(const Tensor<T>&, const Tensor<T>&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
