//   tanh      dx = dy (1 - y^2)
//   sigmoid   dx = dy y (1 - y)
//   relu      dx = dy where not x <= 0
//   silu      y = x s, s = sigmoid(x)                      dx = dy (s + x s (1 - s))
//   gelu      y = x s, s = sigmoid(2 u), since (1 + tanh u) / 2 = sigmoid(2 u);
//             u = c (x + k x^3), c = sqrt(2/pi), k = 0.044715  dx = dy (s + x s (1 - s) 2 c (1 + 3 k x^2))
//   gelu_erf  y = x P, P = (1 + erf(x / sqrt 2)) / 2       dx = dy (P + x e^(-x^2/2) / sqrt(2 pi))
#include "engine/ops/activation.h"

#include <numbers>

#include "engine/backward.h"
#include "engine/kernels/kept_input.h"
#include "engine/kernels/map.h"

namespace inkling {
namespace {

template <class V>
V logistic(const V& x) {
    using T = typename V::value_type;
    return V(T{1}) / (V(T{1}) + xsimd::exp(-x));
}

// s and ds/dx of gelu. Beyond |x| = 20 s is 0 or 1, and x^3 is kept from overflowing.
template <class V>
struct GeluGate {
    V s, ds;
    explicit GeluGate(const V& x) {
        using T = typename V::value_type;
        const V c(static_cast<T>(2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi)), k(static_cast<T>(0.044715));
        const V v = xsimd::min(xsimd::max(x, V(T{-20})), V(T{20}));
        const V ckv2 = c * k * v * v;
        s = logistic(v * (c + ckv2));
        ds = s * (V(T{1}) - s) * (c + V(T{3}) * ckv2);
    }
};

template <class V>
V normal_cdf(const V& x) {
    using T = typename V::value_type;
    return V(T{0.5}) * (V(T{1}) + xsimd::erf(x * V(static_cast<T>(std::numbers::sqrt2 / 2))));
}

template <class V>
V normal_pdf(const V& x) {
    using T = typename V::value_type;
    return V(static_cast<T>(std::numbers::inv_sqrtpi / std::numbers::sqrt2)) * xsimd::exp(V(T{-0.5}) * x * x);
}

template <class T, class F>
Tensor<T> activation(const char* op, const Tensor<T>& x, const ConstArray<T>& y, const ConstArray<T>& saved,
                     const F& df) {
    return record(op, y, inputs(x), [saved = Saved(saved), df](const Array<T>& dy, Gradients<T>& grads) {
        grads.add(0, map_arrays<T>(dy.shape(), df, dy, *saved));
    });
}

}  // namespace

template <class T>
Tensor<T> tanh(const Tensor<T>& x) {
    check_defined("tanh", x);
    Array<T> y = map_arrays<T>(
        x.shape(), [](auto v) { return xsimd::tanh(v); }, x.value());
    return activation<T>("tanh", x, y, y, [](auto g, auto t) { return g * (Vec<T>(T{1}) - t * t); });
}

template <class T>
Tensor<T> sigmoid(const Tensor<T>& x) {
    check_defined("sigmoid", x);
    Array<T> y = map_arrays<T>(
        x.shape(), [](auto v) { return logistic(v); }, x.value());
    return activation<T>("sigmoid", x, y, y, [](auto g, auto s) { return g * s * (Vec<T>(T{1}) - s); });
}

template <class T>
Tensor<T> relu(const Tensor<T>& x) {
    check_defined("relu", x);
    const Vec<T> zero(T{0});
    Array<T> y = map_arrays<T>(
        x.shape(), [zero](auto v) { return at_least(zero, v); }, x.value());
    return activation<T>("relu", x, y, y, [zero](auto g, auto r) { return xsimd::select(r <= zero, zero, g); });
}

template <class T>
Tensor<T> silu(const Tensor<T>& x) {
    check_defined("silu", x);
    Array<T> y = map_arrays<T>(
        x.shape(), [](auto v) { return v * logistic(v); }, x.value());
    return activation<T>("silu", x, std::move(y), x.value(), [](auto g, auto v) {
        const auto s = logistic(v);
        return g * (s + v * s * (Vec<T>(T{1}) - s));
    });
}

template <class T>
Tensor<T> gelu(Tensor<T> x) {
    check_defined("gelu", x);
    const auto value = [](auto v) { return v * GeluGate(v).s; };
    const auto slope = [](auto g, auto v) {
        const GeluGate gate(v);
        return g * (gate.s + v * gate.ds);
    };
    return activation_of_kept<T>("gelu", std::move(x), value, slope);
}

template <class T>
Tensor<T> gelu_erf(const Tensor<T>& x) {
    check_defined("gelu_erf", x);
    Array<T> y = map_arrays<T>(
        x.shape(), [](auto v) { return v * normal_cdf(v); }, x.value());
    return activation<T>("gelu_erf", x, std::move(y), x.value(),
                         [](auto g, auto v) { return g * (normal_cdf(v) + v * normal_pdf(v)); });
}

#define INKLING_INSTANTIATE(T)                    \
    template Tensor<T> tanh(const Tensor<T>&);    \
    template Tensor<T> sigmoid(const Tensor<T>&); \
    template Tensor<T> relu(const Tensor<T>&);    \
    template Tensor<T> silu(const Tensor<T>&);    \
    template Tensor<T> gelu(Tensor<T>);           \
    template Tensor<T> gelu_erf(const Tensor<T>&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
