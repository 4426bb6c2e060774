// Sums and maxima of rows, with the same bits on every CPU: they use the same number of lanes for any vector width, and
// combine the lanes in one order.
//   float s = simd_sum(n, {x}, [](auto sum, auto v) { return sum + portable::exp(v); });   // the sum of e^x[i]
//   float p = simd_dot(n, x, y), top = simd_max(n, x);
#pragma once

#include "engine/kernels/simd.h"

namespace inkling {

// 16 floats or 8 doubles: one vector of AVX-512, two of AVX2, four of NEON.
template <class T>
struct Lanes {
    static constexpr std::size_t size = 64 / sizeof(T), vectors = size / Vec<T>::size;
    Vec<T> v[vectors];

    explicit Lanes(T x) {
        for (Vec<T>& part : v) part = Vec<T>(x);
    }
    // Sets v to f(v, x...), for all lanes or for the first n.
    template <class F, class... In>
    void update(const F& f, const In*... x) {
        constexpr std::size_t W = Vec<T>::size;
        for (std::size_t k = 0; k < vectors; ++k) v[k] = f(v[k], Vec<T>::load_unaligned(x + k * W)...);
    }
    template <class F, class... In>
    void update_first(std::size_t n, const F& f, const In*... x) {
        constexpr std::size_t W = Vec<T>::size;
        for (std::size_t k = 0, i = 0; i < n; ++k, i += W) {
            const std::size_t part = std::min(W, n - i);
            v[k] = replace_part(v[k], Vec<T>(f(v[k], load_part(x + i, part)...)), part);
        }
    }
    void add(const Lanes& other) {
        for (std::size_t k = 0; k < vectors; ++k) v[k] += other.v[k];
    }
};

// Combines the numbers `Width` lanes apart, then those half as far, ...; the first lane has the result.
template <class T, std::size_t Width, class F, int... I>
inline Native<T> fold_from(const Native<T>& v, const F& f, std::integer_sequence<int, I...> order) {
    const Native<T> both = f(v, Native<T>(__builtin_shufflevector(v, v, (I ^ static_cast<int>(Width))...)));
    if constexpr (Width == 1) {
        return both;
    } else {
        return fold_from<T, Width / 2>(both, f, order);
    }
}
// Combines the vectors into one.
template <class T, class F>
inline Native<T> fold_vectors(const Lanes<T>& lanes, const F& f) {
    Native<T> v[Lanes<T>::vectors];
    for (std::size_t k = 0; k < Lanes<T>::vectors; ++k) v[k] = native<T>(lanes.v[k]);
    for (std::size_t half = Lanes<T>::vectors / 2; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) v[k] = f(v[k], v[k + half]);
    return v[0];
}
// Combines all lanes as a tree: halves, quarters, ...
template <class T, class F>
inline T fold(const Lanes<T>& lanes, const F& f) {
    return fold_from<T, Vec<T>::size / 2>(fold_vectors<T>(lanes, f), f,
                                          std::make_integer_sequence<int, static_cast<int>(Vec<T>::size)>{})[0];
}

template <class T>
inline T sum_lanes(const Lanes<T>& lanes) {
    return fold<T>(lanes, [](const auto& a, const auto& b) { return a + b; });
}

// W vectors v[r] from fold_vectors -> (sum of v[0]'s lanes, sum of v[1]'s, ...), each with the bits of sum_lanes. Width
// is the width of the halves that are added first, in N vectors.
template <class T, std::size_t Width = Vec<T>::size / 2, std::size_t N, int... I>
inline Native<T> sums_of_lanes(const Native<T> (&v)[N], std::integer_sequence<int, I...> order) {
    constexpr int w = static_cast<int>(Width), lanes = sizeof...(I);
    Native<T> half[N / 2];
    // Among each 2 w lanes, the first w come from v[i], and the others from v[i + N / 2].
    for (std::size_t i = 0; i < N / 2; ++i) {
        const auto &a = v[i], &b = v[i + N / 2];
        half[i] = Native<T>(__builtin_shufflevector(a, b, (I / w % 2 * (lanes - w) + I)...)) +
                  Native<T>(__builtin_shufflevector(a, b, (I / w % 2 * (lanes - w) + I + w)...));
    }
    if constexpr (Width == 1) {
        return half[0];
    } else {
        return sums_of_lanes<T, Width / 2>(half, order);
    }
}

// Running sums over the row, in two alternating Lanes. add(sum, in[0][i], in[1][i], ...) returns the next sum.
template <class T, std::size_t K, class F>
inline Lanes<T> simd_partial_sums(std::size_t n, const T* const (&in)[K], const F& add) {
    const auto sums = [&](auto... from) {
        constexpr std::size_t L = Lanes<T>::size;
        Lanes<T> even(T{0}), odd(T{0});
        std::size_t i = 0;
        for (; i + 2 * L <= n; i += 2 * L) {
            even.update(add, (from + i)...);
            odd.update(add, (from + i + L)...);
        }
        for (; i + L <= n; i += L) even.update(add, (from + i)...);
        if (i < n) odd.update_first(n - i, add, (from + i)...);
        even.add(odd);
        return even;
    };
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return sums(in[I]...); }
    (std::make_index_sequence<K>{});
}

template <class T, std::size_t K, class F>
inline T simd_sum(std::size_t n, const T* const (&in)[K], const F& add) {
    return sum_lanes<T>(simd_partial_sums(n, in, add));
}
template <class T>
inline T simd_sum(std::size_t n, const T* x) {
    return simd_sum(n, {x}, [](auto sum, auto v) { return sum + v; });
}
template <class T>
inline T simd_dot(std::size_t n, const T* x, const T* y) {
    return simd_sum(n, {x, y}, [](auto sum, auto v, auto w) { return multiply_add(v, w, sum); });
}

// out[i] = f(in[i]), and their sum.
template <class T, class F>
inline T simd_map_sum(std::size_t n, T* out, const T* in, const F& f) {
    constexpr std::size_t L = Lanes<T>::size, W = Vec<T>::size;
    Lanes<T> sum(T{0});
    std::size_t i = 0;
    for (; i + L <= n; i += L)
        for (std::size_t k = 0; k < Lanes<T>::vectors; ++k) {
            const Vec<T> y = f(Vec<T>::load_unaligned(in + i + k * W));
            y.store_unaligned(out + i + k * W);
            sum.v[k] += y;
        }
    for (std::size_t k = 0; i < n; ++k, i += W) {
        const std::size_t part = std::min(W, n - i);
        const Vec<T> y = f(load_part(in + i, part));
        store_part(out + i, y, part);
        sum.v[k] = replace_part(sum.v[k], Vec<T>(sum.v[k] + y), part);
    }
    return sum_lanes<T>(sum);
}

// max_i in[i]; minus infinity for n = 0. A NaN anywhere makes the result unspecified: minus infinity, too.
template <class T>
inline T simd_max(std::size_t n, const T* in) {
    constexpr std::size_t L = Lanes<T>::size;
    Lanes<T> best(-std::numeric_limits<T>::infinity());
    const auto larger = [](auto most, auto v) { return at_least(most, v); };
    std::size_t i = 0;
    for (; i + L <= n; i += L) best.update(larger, in + i);
    if (i < n) best.update_first(n - i, larger, in + i);
    return fold<T>(best, [](const auto& a, const auto& b) { return a > b ? a : b; });
}

}  // namespace inkling
