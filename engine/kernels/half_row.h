// Numbers of float16 widened to float32, a vector or a row, and rows of float32 rounded to float16, as
// engine/base/half.h does it; with the CPU's instructions where it has them.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "engine/base/half.h"
#include "engine/kernels/simd.h"

namespace inkling {

inline Vec<float> load_whole(const std::uint16_t* x) {
#if defined(__AVX512F__)
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
#elif defined(__F16C__)
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
#else
    alignas(64) float lanes[Vec<float>::size];
    for (std::size_t i = 0; i < Vec<float>::size; ++i) lanes[i] = f16_to_f32(x[i]);
    return Vec<float>::load_aligned(lanes);
#endif
}
inline Vec<float> load_whole(const float* x) { return Vec<float>::load_unaligned(x); }
inline Vec<float> load_part(const std::uint16_t* x, std::size_t n) {
    std::uint16_t lanes[Vec<float>::size] = {};
    std::copy_n(x, n, lanes);
    return load_whole(lanes);
}

inline void widen_row(std::size_t n, const std::uint16_t* x, float* y) {
    constexpr std::size_t W = Vec<float>::size;
    std::size_t i = 0;
    for (; i + W <= n; i += W) load_whole(x + i).store_unaligned(y + i);
    for (; i < n; ++i) y[i] = f16_to_f32(x[i]);
}

inline void round_row(std::size_t n, const float* x, std::uint16_t* y) {
    std::size_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), 0));
#endif
    for (; i < n; ++i) y[i] = f32_to_f16(x[i]);
}

}  // namespace inkling
