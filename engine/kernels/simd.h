// Vector loops through xsimd: one generic lambda serves whole vectors, and the ragged end of a row is padded to a
// vector, so an element's bits do not depend on its place in a row.
//   simd_map(n, y, {x}, [](auto v) { return portable::exp(v); });   // y[i] = e^x[i]
// Compilers do not fuse products and sums by themselves (-ffp-contract=off); multiply_add() does. lanes.h has sums.
#pragma once

#include <xsimd/xsimd.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "engine/base/portable_math.h"

#ifdef __aarch64__
// On ARM xsimd 8 only estimates quotients and roots of floats, as 32-bit CPUs must; 64-bit ARM has instructions.
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

// The first n lanes, for the ragged ends of rows: load_part sets the others to 0, store_part stores only these, and
// replace_part takes them from `first` and the others from v. AVX-512 and AVX2 have masks for this; elsewhere, and for
// integers, the lanes go through memory.
template <class T>
inline Vec<T> load_part(const T* p, std::size_t n) {
    alignas(64) T lanes[Vec<T>::size] = {};
    std::copy_n(p, n, lanes);
    return Vec<T>::load_aligned(lanes);
}
template <class T>
inline void store_part(T* p, const Vec<T>& v, std::size_t n) {
    alignas(64) T lanes[Vec<T>::size];
    v.store_aligned(lanes);
    std::copy_n(lanes, n, p);
}
template <class T>
inline Vec<T> replace_part(const Vec<T>& v, const Vec<T>& first, std::size_t n) {
    alignas(64) T lanes[Vec<T>::size];
    v.store_aligned(lanes);
    store_part(lanes, first, n);
    return Vec<T>::load_aligned(lanes);
}
#ifdef __AVX512F__
inline __mmask16 lanes16(std::size_t n) { return static_cast<__mmask16>((1u << n) - 1); }
inline __mmask8 lanes8(std::size_t n) { return static_cast<__mmask8>((1u << n) - 1); }
inline Vec<float> load_part(const float* p, std::size_t n) { return _mm512_maskz_loadu_ps(lanes16(n), p); }
inline Vec<double> load_part(const double* p, std::size_t n) { return _mm512_maskz_loadu_pd(lanes8(n), p); }
inline void store_part(float* p, Vec<float> v, std::size_t n) { _mm512_mask_storeu_ps(p, lanes16(n), v); }
inline void store_part(double* p, Vec<double> v, std::size_t n) { _mm512_mask_storeu_pd(p, lanes8(n), v); }
inline Vec<float> replace_part(Vec<float> v, Vec<float> first, std::size_t n) {
    return _mm512_mask_mov_ps(v, lanes16(n), first);
}
inline Vec<double> replace_part(Vec<double> v, Vec<double> first, std::size_t n) {
    return _mm512_mask_mov_pd(v, lanes8(n), first);
}
#elif defined(__AVX2__)
inline __m256i lanes8(std::size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline __m256i lanes4(std::size_t n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(n)), _mm256_setr_epi64x(0, 1, 2, 3));
}
inline Vec<float> load_part(const float* p, std::size_t n) { return _mm256_maskload_ps(p, lanes8(n)); }
inline Vec<double> load_part(const double* p, std::size_t n) { return _mm256_maskload_pd(p, lanes4(n)); }
inline void store_part(float* p, Vec<float> v, std::size_t n) { _mm256_maskstore_ps(p, lanes8(n), v); }
inline void store_part(double* p, Vec<double> v, std::size_t n) { _mm256_maskstore_pd(p, lanes4(n), v); }
inline Vec<float> replace_part(Vec<float> v, Vec<float> first, std::size_t n) {
    return _mm256_blendv_ps(v, first, _mm256_castsi256_ps(lanes8(n)));
}
inline Vec<double> replace_part(Vec<double> v, Vec<double> first, std::size_t n) {
    return _mm256_blendv_pd(v, first, _mm256_castsi256_pd(lanes4(n)));
}
#endif

// out[i] = f(in[0][i], in[1][i], ...); out may be one of the inputs.
template <class T, std::size_t K, class F>
inline void simd_map(std::size_t n, T* out, const T* const (&in)[K], const F& f) {
    const auto map = [&](auto... from) {
        constexpr std::size_t W = Vec<T>::size;
        std::size_t i = 0;
        for (; i + W <= n; i += W) Vec<T>(f(Vec<T>::load_unaligned(from + i)...)).store_unaligned(out + i);
        if (i < n) store_part(out + i, Vec<T>(f(load_part(from + i, n - i)...)), n - i);
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) { map(in[I]...); }
    (std::make_index_sequence<K>{});
}

// The compiler's own vector, for shuffles with a compile-time order, which xsimd 8 lacks.
template <class T>
struct NativeVector {
    typedef T type __attribute__((vector_size(sizeof(T) * Vec<T>::size)));
};
template <class T>
using Native = typename NativeVector<T>::type;

template <class T>
inline Native<T> native(const Vec<T>& v) {
    Native<T> lanes;
    static_assert(sizeof lanes == sizeof v);
    __builtin_memcpy(&lanes, &v, sizeof lanes);
    return lanes;
}
template <class T>
inline Vec<T> from_native(const auto& lanes) {
    Vec<T> v;
    static_assert(sizeof lanes == sizeof v);
    __builtin_memcpy(&v, &lanes, sizeof v);
    return v;
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

// a b + c, rounded once: xsimd 8's own fma rounds twice on AVX-512 and ARM.
#ifdef __AVX512F__
inline Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec<double> multiply_add(Vec<double> a, Vec<double> b, Vec<double> c) { return _mm512_fmadd_pd(a, b, c); }
#elif defined(__FMA__)
inline Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec<double> multiply_add(Vec<double> a, Vec<double> b, Vec<double> c) { return _mm256_fmadd_pd(a, b, c); }
#elif defined(__aarch64__)
inline Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) { return vfmaq_f32(c, a, b); }
inline Vec<double> multiply_add(Vec<double> a, Vec<double> b, Vec<double> c) { return vfmaq_f64(c, a, b); }
#else
template <class T>
inline Vec<T> multiply_add(const Vec<T>& a, const Vec<T>& b, const Vec<T>& c) {
    return lanewise<T>([](T u, T v, T w) { return std::fma(u, v, w); })(a, b, c);
}
#endif

// The larger of x and a bound, which must not be NaN: NaN where x is NaN, and x where both are zeros. x86's instruction
// returns the second of two operands that do not compare.
template <class V>
inline V at_least(const V& bound, const V& x) {
#ifdef __aarch64__
    return xsimd::select(bound > x, bound, x);
#else
    return xsimd::max(bound, x);
#endif
}
template <class V>
inline V at_most(const V& bound, const V& x) {
#ifdef __aarch64__
    return xsimd::select(bound < x, bound, x);
#else
    return xsimd::min(bound, x);
#endif
}

namespace portable {
template <class T>
struct Numbers<Vec<T>> {
    using value_type = T;
    using V = Vec<T>;
    typedef typename Format<T>::Bits Bits __attribute__((vector_size(sizeof(T) * V::size)));
    static Bits bits(const V& x) {
        Bits bits;
        __builtin_memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    static V number(const Bits& bits) { return from_native<T>(bits); }
    static V fma(const V& a, const V& b, const V& c) { return multiply_add(a, b, c); }
    static V abs(const V& x) { return xsimd::abs(x); }
    static V select(const typename V::batch_bool_type& condition, const V& a, const V& b) {
        return xsimd::select(condition, a, b);
    }
    static bool all(const typename V::batch_bool_type& condition) { return xsimd::all(condition); }
    static V at_least(const V& bound, const V& x) { return inkling::at_least(bound, x); }
    static V at_most(const V& bound, const V& x) { return inkling::at_most(bound, x); }
    template <class F>
    static V each(const F& f, const V& x) {
        return lanewise<T>(f)(x);
    }
#ifdef __AVX512F__
    static V scaled(const V& y, const V& n) {
        if constexpr (std::is_same_v<T, float>) {
            return _mm512_scalef_ps(y, n);
        } else {
            return _mm512_scalef_pd(y, n);
        }
    }
#endif
};
}  // namespace portable

// Updates arrays in place: f(x, y...) changes its vectors.
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
        (store_part(x + i, v, n - i), ...);
    };
    if (i < n) part(load_part(x + i, n - i)...);
}

template <class T>
inline bool has_nan(std::size_t n, const T* in) {
    constexpr std::size_t W = Vec<T>::size;
    typename Vec<T>::batch_bool_type found(false);
    std::size_t i = 0;
    const auto look = [&](const Vec<T>& v) { found = found | xsimd::isnan(v); };
    for (; i + W <= n; i += W) look(Vec<T>::load_unaligned(in + i));
    if (i < n) look(load_part(in + i, n - i));
    return xsimd::any(found);
}

}  // namespace inkling
