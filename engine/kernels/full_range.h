// Functions over the whole range of their type, subnormal numbers included:
//   simd_map(n, y, [](auto v) { return full_range::exp(v); }, x);
// xsimd's exp is infinite from 88.38 on, although the largest float is e^88.72, and 0 below e^-87.7; its log is wrong
// for subnormal numbers; its erf of large numbers is NaN. A vector with such a number is computed lane by lane, in long
// double; all others have xsimd's bits. Softmax uses xsimd's exp, because a number below e^-87 adds nothing to 1.
#pragma once

#include <cmath>
#include <limits>

#include "engine/kernels/simd.h"

namespace inkling::full_range {

// y, with f(x...), a function of long doubles, in the lanes of `some`.
template <class V, class F>
inline V patched(const V& y, const typename V::batch_bool_type& some, const F& f, std::same_as<V> auto... x) {
    using T = typename V::value_type;
    if (!xsimd::any(some)) [[likely]]
        return y;
    const auto each = lanewise<T>([&](auto... v) { return static_cast<T>(f(static_cast<long double>(v)...)); });
    return xsimd::select(some, each(x...), y);
}

// The lanes where e^x is near an end of the range: from `low`, below which it is normal, to `high`, where it is 0 or
// infinite.
template <class V>
struct Ends {
    using T = typename V::value_type;
    static constexpr T low = sizeof(T) == 4 ? T(87.33) : T(708.39), high = sizeof(T) == 4 ? T(110) : T(755);

    static typename V::batch_bool_type either(const V& x) {
        const V size = xsimd::abs(x);
        return (size > V(low)) & (size < V(high));
    }
    static typename V::batch_bool_type lower(const V& x) {
        return xsimd::abs(x + V((low + high) / 2)) < V((high - low) / 2);
    }
};

template <class V>
inline V exp(const V& x) {
    return patched(
        xsimd::exp(x), Ends<V>::either(x), [](long double v) { return std::exp(v); }, x);
}

template <class V>
inline V expm1(const V& x) {
    return patched(
        xsimd::expm1(x), Ends<V>::either(x), [](long double v) { return std::expm1(v); }, x);
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

// 1 / (1 + e^-x)
template <class V>
inline V sigmoid(const V& x) {
    using T = typename V::value_type;
    return patched(
        V(T{1}) / (V(T{1}) + xsimd::exp(-x)), Ends<V>::lower(x), [](long double v) { return 1 / (1 + std::exp(-v)); },
        x);
}

// x / (1 + e^-x); y is its value by a formula whose e^-x may become infinite too early.
template <class V>
inline V silu(const V& y, const V& x) {
    return patched(
        y, Ends<V>::lower(x), [](long double v) { return v / (1 + std::exp(-v)); }, x);
}

}  // namespace inkling::full_range
