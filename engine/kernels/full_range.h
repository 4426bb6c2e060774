// Functions over the whole range of their type, subnormal numbers included:
//   simd_map(n, y, [](auto v) { return full_range::exp(v); }, x);
// xsimd's exp is infinite from 88.38 on, where the largest float is e^88.72, and 0 below e^-87.7; its log is wrong
// below the normal numbers; its erf of large numbers is NaN. Where one of those is in a vector, its lanes are computed
// one by one, in long double. Elsewhere the bits are xsimd's. Softmax takes xsimd's exp: what is below e^-87 adds
// nothing to 1.
#pragma once

#include <cmath>
#include <limits>

#include "engine/kernels/map.h"

namespace inkling::full_range {

// y, but f(x...), a function of long doubles, in the lanes of `some`.
template <class V, class F>
inline V patched(const V& y, const typename V::batch_bool_type& some, const F& f, std::same_as<V> auto... x) {
    using T = typename V::value_type;
    if (!xsimd::any(some)) [[likely]]
        return y;
    const auto each = lanewise<T>([&](auto... v) { return static_cast<T>(f(static_cast<long double>(v)...)); });
    return xsimd::select(some, each(x...), y);
}

// Where e^x or e^-x is near an end of the range, or x e^x is.
template <class V>
inline typename V::batch_bool_type near_ends(const V& x) {
    using T = typename V::value_type;
    constexpr bool single = sizeof(T) == 4;
    const V size = xsimd::abs(x);
    return (size > V(T(single ? 87.33 : 708.39))) & (size < V(T(single ? 110 : 755)));
}

template <class V>
inline V exp(const V& x) {
    return patched(
        xsimd::exp(x), near_ends(x), [](long double v) { return std::exp(v); }, x);
}

template <class V>
inline V expm1(const V& x) {
    return patched(
        xsimd::expm1(x), near_ends(x), [](long double v) { return std::expm1(v); }, x);
}

template <class V>
inline V log(const V& x) {
    using T = typename V::value_type;
    return patched(
        xsimd::log(x), (x > V(T{0})) & (x < V(std::numeric_limits<T>::min())),
        [](long double v) { return std::log(v); }, x);
}

template <class V>
inline V erf(const V& x) {
    if constexpr (std::same_as<typename V::value_type, double>) {  // xsimd's is off by 22 ulp, too
        return lanewise<double>([](double v) { return std::erf(v); })(x);
    } else {
        return xsimd::erf(x);
    }
}

// s = 1 / (1 + e^-x)
template <class V>
inline V sigmoid(const V& x) {
    using T = typename V::value_type;
    return patched(
        V(T{1}) / (V(T{1}) + xsimd::exp(-x)), near_ends(x), [](long double v) { return 1 / (1 + std::exp(-v)); }, x);
}

// x s(u): xs, of which that is wrong where s is near the smallest numbers.
template <class V>
inline V gated(const V& xs, const V& x, const V& u) {
    return patched(
        xs, near_ends(u), [](long double v, long double w) { return v / (1 + std::exp(-w)); }, x, u);
}

}  // namespace inkling::full_range
