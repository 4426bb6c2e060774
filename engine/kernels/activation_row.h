// Activation functions and the soft cap of a vector. The ops (ops/activation.cpp) and a token step share them.
//   simd_map(n, y, {x}, [](auto v) { return activation_row::gelu(v); });
#pragma once

#include <numbers>

#include "engine/kernels/simd.h"

namespace inkling::activation_row {

template <class V>
V relu(const V& x) {
    return at_least(V(typename V::value_type{0}), x);
}

template <class V>
V squared_relu(const V& x) {
    const V r = relu(x);
    return r * r;
}

// gelu x = x s. Beyond |x| = 20, s is 0 or 1; x is limited there so that x^3 does not overflow.
template <class V>
struct GeluGate {
    V s, ds;  // s and ds/dx
    explicit GeluGate(const V& x) {
        using T = typename V::value_type;
        constexpr double slope = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
        const V c(static_cast<T>(slope)), ck(static_cast<T>(slope * 0.044715));
        const V v = min(max(x, V(T{-20})), V(T{20}));
        const V ckv2 = ck * v * v;
        using portable::sigmoid;
        s = sigmoid(v * (c + ckv2));
        ds = s * (V(T{1}) - s) * multiply_add(V(T{3}), ckv2, c);
    }
};

template <class V>
V gelu(const V& x) {
    return x * GeluGate<V>(x).s;
}

template <class V>
V normal_cdf(const V& x) {
    using T = typename V::value_type;
    return V(T{0.5}) * (V(T{1}) + portable::erf(x * V(static_cast<T>(std::numbers::sqrt2 / 2))));
}

template <class V>
V gelu_erf(const V& x) {
    return x * normal_cdf(x);
}

template <class V>
V softcap(const V& x, typename V::value_type cap, typename V::value_type inverse) {  // inverse: 1 / cap
    return V(cap) * portable::tanh(x * V(inverse));
}

}  // namespace inkling::activation_row
