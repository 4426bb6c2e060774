// A row of float16 numbers widened to float32, and float32 rounded to float16, as engine/base/half.h does it; with the
// CPU's instructions where it has them.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "engine/base/half.h"

namespace inkling {

inline void widen_row(std::size_t n, const std::uint16_t* x, float* y) {
    std::size_t i = 0;
#ifdef __AVX512F__
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(y + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i))));
#endif
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
#endif
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
