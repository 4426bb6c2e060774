// Small matrix products inside one thread, for ops that keep their operands in cache: C (+)= A B with B and C row-major
// and A of any strides. Larger products belong to gemm.h.
#pragma once

#include "engine/simd.h"

namespace inkling {

// MR x (NV vectors) of C in registers.
template <class T, std::size_t MR, std::size_t NV>
inline void product_tile(std::size_t K, const T* A, std::ptrdiff_t a_row, std::ptrdiff_t a_col, const T* B,
                         std::ptrdiff_t ldb, T* C, std::ptrdiff_t ldc, bool accumulate) {
    constexpr auto W = static_cast<std::ptrdiff_t>(Vec<T>::size);
    constexpr auto rows = static_cast<std::ptrdiff_t>(MR), vectors = static_cast<std::ptrdiff_t>(NV);
    Vec<T> c[MR][NV];
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
        for (std::ptrdiff_t v = 0; v < vectors; ++v) {
            c[r][v] = accumulate ? Vec<T>::load_unaligned(C + r * ldc + v * W) : Vec<T>(T{0});
        }
    }
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(K); ++k) {
        Vec<T> b[NV];
        for (std::ptrdiff_t v = 0; v < vectors; ++v) b[v] = Vec<T>::load_unaligned(B + k * ldb + v * W);
        for (std::ptrdiff_t r = 0; r < rows; ++r) {
            const Vec<T> a(A[r * a_row + k * a_col]);
            for (std::ptrdiff_t v = 0; v < vectors; ++v) c[r][v] = xsimd::fma(a, b[v], c[r][v]);
        }
    }
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
        for (std::ptrdiff_t v = 0; v < vectors; ++v) c[r][v].store_unaligned(C + r * ldc + v * W);
    }
}

template <class T, std::size_t NV>
inline void product_strip(std::size_t M, std::size_t K, const T* A, std::ptrdiff_t a_row, std::ptrdiff_t a_col,
                          const T* B, std::ptrdiff_t ldb, T* C, std::ptrdiff_t ldc, bool accumulate) {
    constexpr std::size_t MR = sizeof(T) * Vec<T>::size == 64 ? 8 : 4;  // AVX-512 has twice the registers
    std::size_t m = 0;
    const auto at = [&](std::size_t row) { return static_cast<std::ptrdiff_t>(row); };
    for (; m + MR <= M; m += MR) {
        product_tile<T, MR, NV>(K, A + at(m) * a_row, a_row, a_col, B, ldb, C + at(m) * ldc, ldc, accumulate);
    }
    for (; m < M; ++m) {
        product_tile<T, 1, NV>(K, A + at(m) * a_row, a_row, a_col, B, ldb, C + at(m) * ldc, ldc, accumulate);
    }
}

// C (M, N) (+)= A (M, K) B (K, N); element (m, k) of A is A[m a_row + k a_col].
template <class T>
inline void tile_product(std::size_t M, std::size_t N, std::size_t K, const T* A, std::ptrdiff_t a_row,
                         std::ptrdiff_t a_col, const T* B, std::ptrdiff_t ldb, T* C, std::ptrdiff_t ldc,
                         bool accumulate) {
    constexpr std::size_t W = Vec<T>::size;
    std::size_t n = 0;
    for (; n + 2 * W <= N; n += 2 * W) product_strip<T, 2>(M, K, A, a_row, a_col, B + n, ldb, C + n, ldc, accumulate);
    for (; n + W <= N; n += W) product_strip<T, 1>(M, K, A, a_row, a_col, B + n, ldb, C + n, ldc, accumulate);
    if (n == N) return;
    for (std::size_t m = 0; m < M; ++m) {  // the ragged end
        T* const row = C + static_cast<std::ptrdiff_t>(m) * ldc;
        if (!accumulate) std::fill(row + n, row + N, T{0});
        for (std::size_t k = 0; k < K; ++k) {
            const T a = A[static_cast<std::ptrdiff_t>(m) * a_row + static_cast<std::ptrdiff_t>(k) * a_col];
            const T* const b = B + static_cast<std::ptrdiff_t>(k) * ldb;
            for (std::size_t j = n; j < N; ++j) row[j] += a * b[j];
        }
    }
}

}  // namespace inkling
