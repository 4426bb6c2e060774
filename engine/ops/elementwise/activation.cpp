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

#include "engine/base/both_types.h"
#include "engine/kernels/activation_row.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/unary_op.h"

namespace inkling {
namespace {

using activation_row::normal_cdf;

template <class T>
Tensor<T> normal_cdf(const Tensor<T>& x) {
    return 0.5 * (1 + erf(x * (std::numbers::sqrt2 / 2)));
}
template <class V>
V normal_pdf(const V& x) {
    using T = typename V::value_type;
    return static_cast<T>(std::numbers::inv_sqrtpi / std::numbers::sqrt2) * portable::exp(T{-0.5} * x * x);
}

template <class T>
Vec<T> gelu_gradient(const Vec<T>& dy, const Vec<T>& x) {
    const activation_row::GeluGate gate(x);
    return dy * multiply_add(x, gate.ds, gate.s);
}
template <class T>
Tensor<T> gelu_gradient(const Tensor<T>& dy, const Tensor<T>& x) {
    constexpr double c = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi, k = 0.044715;
    const Tensor<T> v = clamp(x, -20, 20), s = sigmoid(c * (v + k * v * v * v));
    return dy * (s + x * (s * (1 - s) * c * (1 + 3 * k * v * v)));
}

}  // namespace

template <class T>
Tensor<T> tanh(const Tensor<T>& x) {
    return unary_op(
        "tanh", x, Saves::output, [](auto v) { return portable::tanh(v); },
        [](auto dy, auto y) { return dy * (1 - y * y); });
}

template <class T>
Tensor<T> sigmoid(const Tensor<T>& x) {
    return unary_op(
        "sigmoid", x, Saves::output, [](auto v) { return portable::sigmoid(v); },
        [](auto dy, auto y) { return dy * y * (1 - y); });
}

template <class T>
Tensor<T> relu(Tensor<T> x) {
    return unary_op(
        "relu", std::move(x), Saves::output, [](auto v) { return activation_row::relu(v); },
        [](Vec<T> dy, Vec<T> y) { return select(y <= 0, Vec<T>(T{0}), dy); });
}

template <class T>
Tensor<T> silu(Tensor<T> x) {
    return unary_op(
        "silu", std::move(x), Saves::input, [](auto v) { return portable::silu(v); },
        [](auto dy, auto v) {
            const auto s = portable::sigmoid(v);
            return dy * multiply_add(v * s, 1 - s, s);
        });
}

template <class T>
Tensor<T> gelu(Tensor<T> x) {
    return unary_op(
        "gelu", std::move(x), Saves::rounded_input, [](auto v) { return activation_row::gelu(v); },
        [](auto dy, auto v) { return gelu_gradient(dy, v); });
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
        both_ways([](Vec<T> dy, Vec<T> v) { return dy * (2 * activation_row::relu(v)); },
                  [](Tensor<T> dy, Tensor<T> v) { return dy * (2 * relu(v)); }));
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
        [=](Vec<T> dy, Vec<T> v) {
            return select(v > zero, dy, select(v <= zero, a * dy, v));  // NaN where x is
        });
}

template <class T>
Tensor<T> elu(const Tensor<T>& x, double alpha) {
    const Vec<T> zero(T{0}), a(static_cast<T>(alpha));
    return unary_op(
        "elu", x, Saves::input, [=](auto v) { return xsimd::select(v >= zero, v, a * portable::expm1(v)); },
        both_ways([=](Vec<T> dy, Vec<T> v) { return select(v > zero, dy, dy * a * portable::exp(v)); },
                  [=](Tensor<T> dy, Tensor<T> v) { return where(v.value() > 0, dy, dy * alpha * exp(v)); }));
}

template <class T>
Tensor<T> softcap(Tensor<T> x, double cap) {
    check_defined("softcap", x);
    check(cap > 0, "softcap: expected a cap above 0, got {} for shape {}", cap, x.shape());
    const T c = static_cast<T>(cap), inverse = static_cast<T>(1 / cap);
    return unary_op(
        "softcap", std::move(x), Saves::output, [=](auto v) { return activation_row::softcap(v, c, inverse); },
        [=](auto dy, auto y) {
            const auto t = y * inverse;
            return dy * (1 - t * t);
        });
}

INKLING_BOTH_TYPES(tanh<T>, sigmoid<T>, relu<T>, silu<T>, gelu<T>, gelu_erf<T>, squared_relu<T>, softplus<T>,
                   leaky_relu<T>, elu<T>, softcap<T>);

}  // namespace inkling
