// Vector loops through xsimd: one generic lambda serves whole vectors, and the ragged end of a row is padded to a
// vector, so an element's bits do not depend on its place in a row.
//   simd_map(n, y, [](auto x) { return xsimd::exp(x); }, x);          // y[i] = exp(x[i])
//   float s = simd_sum(n, [](auto a, auto b) { return a * b; }, x, y);  // sum of x[i] y[i], in a fixed order
#pragma once

#include <xsimd/xsimd.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#ifdef __aarch64__
// xsimd 8 estimates quotients and roots of floats, as it must on ARM's older CPUs; these have instructions for both.
namespace xsimd::kernel {
template <>
inline batch<float, neon64> div(const batch<float, neon64>& x, const batch<float, neon64>& y,
                                requires_arch<neon>) noexcept {
    return vdivq_f32(x, y);
}
template <>
inline batch<float, neon64> sqrt(const batch<float, neon64>& x, requires_arch<neon>) noexcept {
    return vsqrtq_f32(x);
}
}  // namespace xsimd::kernel
#endif

namespace inkling {

template <class T>
using Vec = xsimd::batch<T>;

#if defined(__AVX2__) && !defined(__AVX512F__)
template <class T>
inline __m256i first_lanes(std::size_t n) {  // all bits of the first n lanes
    if constexpr (sizeof(T) == 4) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    } else {
        return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(n)), _mm256_setr_epi64x(0, 1, 2, 3));
    }
}
#endif

// The first n lanes, for the ragged ends of rows: loads them with `padding` in the others, stores only them, or keeps
// them with 0 in the others. AVX-512 and AVX2 have masks for this; elsewhere the lanes go through memory.
template <class T>
inline Vec<T> load_part(const T* p, std::size_t n, T padding = T{0}) {
#ifdef __AVX512F__
    if constexpr (std::is_same_v<T, float>) {
        return _mm512_mask_loadu_ps(_mm512_set1_ps(padding), static_cast<__mmask16>((1u << n) - 1), p);
    } else if constexpr (std::is_same_v<T, double>) {
        return _mm512_mask_loadu_pd(_mm512_set1_pd(padding), static_cast<__mmask8>((1u << n) - 1), p);
    }
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) {
        const __m256i mask = first_lanes<T>(n);
        return _mm256_blendv_ps(_mm256_set1_ps(padding), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
    } else if constexpr (std::is_same_v<T, double>) {
        const __m256i mask = first_lanes<T>(n);
        return _mm256_blendv_pd(_mm256_set1_pd(padding), _mm256_maskload_pd(p, mask), _mm256_castsi256_pd(mask));
    }
#endif
    alignas(64) T lanes[Vec<T>::size];
    std::fill(std::copy_n(p, n, lanes), lanes + Vec<T>::size, padding);
    return Vec<T>::load_aligned(lanes);
}

template <class T>
inline void store_part(T* p, const Vec<T>& v, std::size_t n) {
#ifdef __AVX512F__
    if constexpr (std::is_same_v<T, float>) {
        return _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), v);
    } else if constexpr (std::is_same_v<T, double>) {
        return _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << n) - 1), v);
    }
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) {
        return _mm256_maskstore_ps(p, first_lanes<T>(n), v);
    } else if constexpr (std::is_same_v<T, double>) {
        return _mm256_maskstore_pd(p, first_lanes<T>(n), v);
    }
#endif
    alignas(64) T lanes[Vec<T>::size];
    v.store_aligned(lanes);
    std::copy_n(lanes, n, p);
}

template <class T>
inline Vec<T> keep_part(const Vec<T>& v, std::size_t n) {
#ifdef __AVX512F__
    if constexpr (std::is_same_v<T, float>) {
        return _mm512_maskz_mov_ps(static_cast<__mmask16>((1u << n) - 1), v);
    } else if constexpr (std::is_same_v<T, double>) {
        return _mm512_maskz_mov_pd(static_cast<__mmask8>((1u << n) - 1), v);
    }
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) {
        return _mm256_and_ps(v, _mm256_castsi256_ps(first_lanes<T>(n)));
    } else if constexpr (std::is_same_v<T, double>) {
        return _mm256_and_pd(v, _mm256_castsi256_pd(first_lanes<T>(n)));
    }
#endif
    alignas(64) T lanes[Vec<T>::size] = {};
    store_part<T>(lanes, v, n);
    return Vec<T>::load_aligned(lanes);
}

// out[i] = f(in[i]...); out may be one of the inputs.
template <class T, class F, class... In>
inline void simd_map(std::size_t n, T* out, const F& f, const In*... in) {
    constexpr std::size_t W = Vec<T>::size;
    std::size_t i = 0;
    for (; i + W <= n; i += W) Vec<T>(f(Vec<T>::load_unaligned(in + i)...)).store_unaligned(out + i);
    if (i < n) store_part<T>(out + i, f(load_part<T>(in + i, n - i)...), n - i);
}

// The compiler's own vector, for shuffles with a compile-time order, which xsimd 8 lacks.
template <class T>
struct NativeVector {
    typedef T type __attribute__((vector_size(sizeof(T) * Vec<T>::size)));
};
template <class T>
using Native = typename NativeVector<T>::type;

template <class T, std::size_t Width, class F, int... I>
inline Native<T> fold_from(const Native<T>& v, const F& f, std::integer_sequence<int, I...> order) {
    const Native<T> both = f(v, Native<T>(__builtin_shufflevector(v, v, (I ^ static_cast<int>(Width))...)));
    if constexpr (Width == 1) {
        return both;
    } else {
        return fold_from<T, Width / 2>(both, f, order);
    }
}

// Combines the lanes of v as a tree: halves, quarters, ...
template <class T, class F>
inline T fold_lanes(const Vec<T>& v, const F& f) {
    Native<T> lanes;
    static_assert(sizeof(lanes) == sizeof(v));
    __builtin_memcpy(&lanes, &v, sizeof(lanes));
    return fold_from<T, Vec<T>::size / 2>(lanes, f,
                                          std::make_integer_sequence<int, static_cast<int>(Vec<T>::size)>{})[0];
}

template <class T>
inline T sum_lanes(const Vec<T>& v) {
    return fold_lanes<T>(v, [](const auto& a, const auto& b) { return a + b; });
}

// W vectors v[r] -> (sum of v[0]'s lanes, sum of v[1]'s, ...), each with the bits of sum_lanes. Width: of the halves
// that are added first, of N vectors.
template <class T, std::size_t Width = Vec<T>::size / 2, std::size_t N, int... I>
inline Native<T> sums_of_lanes(const Native<T> (&v)[N], std::integer_sequence<int, I...> order) {
    constexpr int w = static_cast<int>(Width), lanes = sizeof...(I);
    Native<T> half[N / 2];
    for (std::size_t i = 0; i < N / 2;
         ++i) {  // of each 2 w lanes, the first w are of v[i], and the others of v[i + N / 2]
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

// A vector whose lanes sum to sum_i f(in[i]...), with two running vectors, always in the same order.
template <class F, class T, class... In>
inline Vec<T> simd_partial_sums(std::size_t n, const F& f, const T* first, const In*... in) {
    constexpr std::size_t W = Vec<T>::size;
    Vec<T> even(T{0}), odd(T{0});
    std::size_t i = 0;
    for (; i + 2 * W <= n; i += 2 * W) {
        even += f(Vec<T>::load_unaligned(first + i), Vec<T>::load_unaligned(in + i)...);
        odd += f(Vec<T>::load_unaligned(first + i + W), Vec<T>::load_unaligned(in + i + W)...);
    }
    for (; i + W <= n; i += W) even += f(Vec<T>::load_unaligned(first + i), Vec<T>::load_unaligned(in + i)...);
    if (i < n) {
        odd += keep_part<T>(f(load_part<T>(first + i, n - i), load_part<T>(in + i, n - i)...), n - i);
    }
    return even + odd;
}

template <class F, class T, class... In>
inline T simd_sum(std::size_t n, const F& f, const T* first, const In*... in) {
    return sum_lanes<T>(simd_partial_sums(n, f, first, in...));
}

// out[i] = f(in[i]), and their sum.
template <class F, class T>
inline T simd_map_sum(std::size_t n, T* out, const F& f, const T* in) {
    constexpr std::size_t W = Vec<T>::size;
    Vec<T> sum(T{0});
    std::size_t i = 0;
    for (; i + W <= n; i += W) {
        const Vec<T> y = f(Vec<T>::load_unaligned(in + i));
        y.store_unaligned(out + i);
        sum += y;
    }
    if (i < n) {
        const Vec<T> y = f(load_part<T>(in + i, n - i));
        store_part<T>(out + i, y, n - i);
        sum += keep_part<T>(y, n - i);
    }
    return sum_lanes<T>(sum);
}

// f(x, y...) changes its vectors, of arrays that it updates in place.
template <class F, class... T>
inline void simd_update(std::size_t n, const F& f, T*... x) {
    constexpr std::size_t W = Vec<std::common_type_t<T...>>::size;
    std::size_t i = 0;
    const auto whole = [&](Vec<T>... v) {
        f(v...);
        (v.store_unaligned(x + i), ...);
    };
    for (; i + W <= n; i += W) whole(Vec<T>::load_unaligned(x + i)...);
    const auto part = [&](Vec<T>... v) {
        f(v...);
        (store_part<T>(x + i, v, n - i), ...);
    };
    if (i < n) part(load_part<T>(x + i, n - i)...);
}

template <class T>
inline bool has_nan(std::size_t n, const T* in) {
    constexpr std::size_t W = Vec<T>::size;
    typename Vec<T>::batch_bool_type found(false);
    std::size_t i = 0;
    const auto look = [&](const Vec<T>& v) { found = found | xsimd::isnan(v); };
    for (; i + W <= n; i += W) look(Vec<T>::load_unaligned(in + i));
    if (i < n) look(load_part<T>(in + i, n - i));
    return xsimd::any(found);
}

// The larger of x and a bound, which must not be NaN. NaN where x is NaN, because x86 returns the second of two
// operands that do not compare.
template <class V>
inline V at_least(const V& bound, const V& x) {
    return xsimd::max(bound, x);
}

// max_i in[i]; minus infinity for n = 0. A NaN anywhere makes the result unspecified: minus infinity, too.
template <class T>
inline T simd_max(std::size_t n, const T* in) {
    constexpr std::size_t W = Vec<T>::size;
    constexpr T lowest = -std::numeric_limits<T>::infinity();
    Vec<T> best(lowest);
    std::size_t i = 0;
    for (; i + W <= n; i += W) best = xsimd::max(best, Vec<T>::load_unaligned(in + i));
    if (i < n) best = xsimd::max(best, load_part<T>(in + i, n - i, lowest));
    return fold_lanes<T>(best, [](const auto& a, const auto& b) { return a > b ? a : b; });
}

// Makes a vector function from a function of numbers that has no vector form.
template <class T, class F>
auto lanewise(const F& f) {
    return [f](std::same_as<Vec<T>> auto... x) {
        alignas(64) T lanes[sizeof...(x)][Vec<T>::size];
        std::size_t k = 0;
        (x.store_aligned(lanes[k++]), ...);
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            for (std::size_t i = 0; i < Vec<T>::size; ++i) lanes[0][i] = f(lanes[I][i]...);
        }
        (std::make_index_sequence<sizeof...(x)>{});
        return Vec<T>::load_aligned(lanes[0]);
    };
}

}  // namespace inkling
