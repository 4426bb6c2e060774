//   tanh      dx = dy (1 - y^2)
//   sigmoid   dx = dy y (1 - y)
//   relu      dx = dy where not x <= 0
//   silu      y = x s, s = sigmoid(x)                      dx = dy (s + x s (1 - s))
//   gelu      y = x s, s = sigmoid(2 u), since (1 + tanh u) / 2 = sigmoid(2 u);
//             u = c (x + k x^3), c = sqrt(2/pi), k = 0.044715  dx = dy (s + x s (1 - s) 2 c (1 + 3 k x^2))
//   gelu_erf  y = x P, P = (1 + erf(x / sqrt 2)) / 2       dx = dy (P + x e^(-x^2/2) / sqrt(2 pi))
//   squared_relu  y = r^2, r = max(x, 0)                   dx = dy 2 r
//   softplus  y = max(x, 0) + ln(1 + e^-|x|)               dx = dy sigmoid(x)
//   leaky_relu  y = x where x > 0, else a x                dx = dy, or a dy
//   elu       y = x where x > 0, else a (e^x - 1)          dx = dy, or dy a e^x
//   softcap   y = c tanh(x / c)                            dx = dy (1 - (y / c)^2)
#include "engine/ops/elementwise/activation.h"

#include "engine/kernels/activation_row.h"
#include "engine/ops/elementwise/unary_op.h"

namespace inkling {
namespace {

using activation_row::GeluGate, activation_row::normal_cdf;

template <class T>
Traced<T> normal_cdf(const Traced<T>& x) {
    return Traced<T>(affine(erf(scale(x.tensor, std::numbers::sqrt2 / 2)), 0.5, 0.5));
}
template <class V>
V normal_pdf(const V& x) {
    using T = typename V::value_type;
    return V(static_cast<T>(std::numbers::inv_sqrtpi / std::numbers::sqrt2)) * portable::exp(V(T{-0.5}) * x * x);
}

}  // namespace

template <class T>
Tensor<T> tanh(const Tensor<T>& x) {
    return unary_op(
        "tanh", x, Saves::output, [](auto v) { return portable::tanh(v); },
        [](auto dy, auto y) { return dy * (Vec<T>(T{1}) - y * y); });
}

template <class T>
Tensor<T> sigmoid(const Tensor<T>& x) {
    return unary_op(
        "sigmoid", x, Saves::output, [](auto v) { return portable::sigmoid(v); },
        [](auto dy, auto y) { return dy * y * (Vec<T>(T{1}) - y); });
}

template <class T>
Tensor<T> relu(Tensor<T> x) {
    const Vec<T> zero(T{0});
    return unary_op(
        "relu", std::move(x), Saves::output, [](auto v) { return activation_row::relu(v); },
        [zero](auto dy, auto y) { return select(y <= zero, zero, dy); });
}

template <class T>
Tensor<T> silu(Tensor<T> x) {
    return unary_op(
        "silu", std::move(x), Saves::input, [](auto v) { return portable::silu(v); },
        [](auto dy, auto v) {
            const auto s = portable::sigmoid(v);
            return dy * multiply_add(v * s, Vec<T>(T{1}) - s, s);
        });
}

template <class T>
Tensor<T> gelu(Tensor<T> x) {
    return unary_op(
        "gelu", std::move(x), Saves::rounded_input, [](auto v) { return activation_row::gelu(v); },
        [](auto dy, auto v) {
            const GeluGate gate(v);
            return dy * multiply_add(v, gate.ds, gate.s);
        });
}

template <class T>
Tensor<T> gelu_erf(Tensor<T> x) {
    return unary_op(
        "gelu_erf", std::move(x), Saves::input, [](auto v) { return activation_row::gelu_erf(v); },
        [](auto dy, auto v) { return dy * multiply_add(v, normal_pdf(v), normal_cdf(v)); });
}

template <class T>
Tensor<T> squared_relu(Tensor<T> x) {
    return unary_op(
        "squared_relu", std::move(x), Saves::rounded_input, [](auto v) { return activation_row::squared_relu(v); },
        [](auto dy, auto v) { return dy * (Vec<T>(T{2}) * at_least(Vec<T>(T{0}), v)); });
}

template <class T>
Tensor<T> softplus(const Tensor<T>& x) {
    return unary_op(
        "softplus", x, Saves::input,
        [](auto v) { return at_least(Vec<T>(T{0}), v) + portable::log1p(portable::exp(-xsimd::abs(v))); },
        [](auto dy, auto v) { return dy * portable::sigmoid(v); });
}

template <class T>
Tensor<T> leaky_relu(const Tensor<T>& x, double negative_slope) {
    const Vec<T> zero(T{0}), a(static_cast<T>(negative_slope));
    return unary_op(
        "leaky_relu", x, Saves::input, [=](auto v) { return xsimd::select(v > zero, v, a * v); },
        [=](auto dy, auto v) {
            return select(v > zero, dy, select(v <= zero, a * dy, v));  // NaN where x is
        });
}

template <class T>
Tensor<T> elu(const Tensor<T>& x, double alpha) {
    const Vec<T> zero(T{0}), a(static_cast<T>(alpha));
    return unary_op(
        "elu", x, Saves::input, [=](auto v) { return xsimd::select(v >= zero, v, a * portable::expm1(v)); },
        [=](auto dy, auto v) { return select(v > zero, dy, dy * a * portable::exp(v)); });
}

template <class T>
Tensor<T> softcap(Tensor<T> x, double cap) {
    check_defined("softcap", x);
    check(cap > 0, "softcap: a cap above 0 is required, got {} for shape {}", cap, x.shape());
    const T c = static_cast<T>(cap), inverse = static_cast<T>(1 / cap);
    return unary_op(
        "softcap", std::move(x), Saves::output, [=](auto v) { return activation_row::softcap(v, c, inverse); },
        [=](auto dy, auto y) {
            const auto t = y * Vec<T>(inverse);
            return dy * (Vec<T>(T{1}) - t * t);
        });
}

#define INKLING_INSTANTIATE(T)                               \
    template Tensor<T> tanh(const Tensor<T>&);               \
    template Tensor<T> sigmoid(const Tensor<T>&);            \
    template Tensor<T> relu(Tensor<T>);                      \
    template Tensor<T> silu(Tensor<T>);                      \
    template Tensor<T> gelu(Tensor<T>);                      \
    template Tensor<T> gelu_erf(Tensor<T>);                  \
    template Tensor<T> squared_relu(Tensor<T>);              \
    template Tensor<T> softplus(const Tensor<T>&);           \
    template Tensor<T> leaky_relu(const Tensor<T>&, double); \
    template Tensor<T> elu(const Tensor<T>&, double);        \
    template Tensor<T> softcap(Tensor<T>, double);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
