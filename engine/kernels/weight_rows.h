// y = W x, row by row, for weights in float32 or bfloat16:
//   multiply_rows(n, begin, end, x, batch, y, y_stride, dot_row(w, n, y_stride));
// A product with one vector costs as much as reading the weights. An element's bits depend neither on the rows nor on
// the batch.
#pragma once

#include <cstring>

#include "engine/base/half.h"
#include "engine/kernels/lanes.h"

namespace inkling::weight_rows {

inline constexpr std::size_t W = Vec<float>::size;
inline constexpr std::size_t kBatch = 4;  // vectors that share one reading of a row
// Weights that stay in the cache while more vectors than kBatch pass over them.
inline constexpr std::size_t kCached = 32768;

// Converts W numbers of a smaller type to floats with the compiler's own vectors, because xsimd 8 goes through memory.
// GCC 12 halves vectors of 512 bits and converts 8-bit numbers one by one, so these use intrinsics.
template <class Small, class Wide>
inline auto load_converted(const Small* p) {
    typedef Small Packed __attribute__((vector_size(sizeof(Small) * W)));
    typedef Wide Converted __attribute__((vector_size(sizeof(Wide) * W)));
    Packed packed;
    std::memcpy(&packed, p, sizeof packed);
    return __builtin_convertvector(packed, Converted);
}

inline Vec<float> load_wide(const float* p) { return Vec<float>::load_unaligned(p); }
inline Vec<float> load_wide(const BFloat16* p) {
#if defined(__AVX512F__)
    if constexpr (W == 16) {
        const __m256i bfloat16 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bfloat16), 16));
    }
#endif
    return from_native<float>(load_converted<std::uint16_t, std::uint32_t>(reinterpret_cast<const std::uint16_t*>(p))
                              << 16);
}
inline Vec<float> load_wide_part(const float* p, std::size_t n) { return load_part(p, n); }
inline Vec<float> load_wide_part(const BFloat16* p, std::size_t n) {
    alignas(64) float lanes[W] = {};
    for (std::size_t i = 0; i < n; ++i) lanes[i] = widen(p[i]);
    return Vec<float>::load_aligned(lanes);
}

// Prefetches `count` weights some rows after p, because the CPU's own prefetching stops at each page: into L2, because
// L1 has too few outstanding loads; but small weights into L1 where vectors have 8 lanes, because converting them takes
// so many instructions that the CPU does not reach the next loads early enough to hide the way from L2.
template <class Weight>
inline void prefetch(const Weight* p, std::size_t count) {
    constexpr bool near = W == 8 && sizeof(Weight) < sizeof(float);
    const char* const ahead = reinterpret_cast<const char*>(p) + (near ? 4096 : 12288);
    for (std::size_t i = 0; i < count * sizeof(Weight); i += 64) __builtin_prefetch(ahead + i, 0, near ? 0 : 2);
}

// y[b] = w . x[b], with two alternating Lanes and always in the same order, so N changes no bit.
template <std::size_t N, class Weight>
inline void dot(const Weight* w, std::size_t n, const float* x, float* y, std::size_t y_stride) {
    constexpr std::size_t kTurns = 2, V = Lanes<float>::vectors;
    Vec<float> sum[N][kTurns * V];
    for (auto& row : sum)
        for (auto& s : row) s = Vec<float>(0.0f);
    std::size_t i = 0;
    for (; i + kTurns * V * W <= n; i += kTurns * V * W) {
        prefetch(w + i, kTurns * V * W);
        for (std::size_t k = 0; k < kTurns * V; ++k) {
            const Vec<float> v = load_wide(w + i + k * W);
            for (std::size_t b = 0; b < N; ++b)
                sum[b][k] = multiply_add(v, Vec<float>::load_unaligned(x + b * n + i + k * W), sum[b][k]);
        }
    }
    for (std::size_t k = 0; i < n; i += W, ++k) {
        const std::size_t part = std::min(W, n - i);
        const Vec<float> v = part == W ? load_wide(w + i) : load_wide_part(w + i, part);
        for (std::size_t b = 0; b < N; ++b) sum[b][k] = multiply_add(v, load_part(x + b * n + i, part), sum[b][k]);
    }
    for (std::size_t b = 0; b < N; ++b) {
        Lanes<float> lanes(0.0f);
        for (std::size_t k = 0; k < V; ++k) lanes.v[k] = sum[b][k] + sum[b][k + V];
        y[b * y_stride] = sum_lanes<float>(lanes);
    }
}

// Calls row(r, vectors, y, N) for each row in [begin, end) and each group of N vectors.
template <class Row>
void multiply_rows(std::size_t n, std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                   std::size_t y_stride, const Row& row) {
    const auto some = [&](std::size_t first, std::size_t last, std::size_t b, auto N) {
        for (std::size_t r = first; r < last; ++r) row(r, x + b * n, y + b * y_stride + r, N);
    };
    const std::size_t step = batch == 1 ? end - begin : std::max<std::size_t>(1, kCached / std::max<std::size_t>(1, n));
    for (std::size_t first = begin; first < end; first += step) {
        const std::size_t last = std::min(end, first + step);
        std::size_t b = 0;
        for (; b + kBatch <= batch; b += kBatch) some(first, last, b, std::integral_constant<std::size_t, kBatch>{});
        for (; b < batch; ++b) some(first, last, b, std::integral_constant<std::size_t, 1>{});
    }
}

template <class Weight>
auto dot_row(const Weight* w, std::size_t n, std::size_t y_stride) {
    return [=](std::size_t r, const float* x, float* y, auto N) { dot<N>(w + r * n, n, x, y, y_stride); };
}

}  // namespace inkling::weight_rows
