// Small matrix products inside one thread, for ops that keep their operands in cache: C (+)= A B with B and C row-major
// and A of any strides. Larger products belong to gemm.h. Operands are numbers, or pairs of bfloat16 adjacent along K,
// each pair in one word: (a0, a1) (b0, b1) adds a0 b0 + a1 b1 to a float.
#pragma once

#include <utility>

#include "engine/kernels/simd.h"

namespace inkling {

// n rounded up to whole vectors.
template <class T>
constexpr std::size_t whole_vectors(std::size_t n) {
    return (n + Vec<T>::size - 1) / Vec<T>::size * Vec<T>::size;
}

// Transposes as many rows as a vector has lanes, in log2(lanes) stages of interleaving.
template <class T>
struct TransposedBlock {
    static constexpr std::ptrdiff_t W = Vec<T>::size;
    using V = Native<T>;

    template <int... I>
    static void interleave(const V& a, const V& b, V& low, V& high, std::integer_sequence<int, I...>) {
        low = __builtin_shufflevector(a, b, (I / 2 + I % 2 * static_cast<int>(W))...);
        high = __builtin_shufflevector(a, b, (static_cast<int>(W) / 2 + I / 2 + I % 2 * static_cast<int>(W))...);
    }
    static void store(const T* x, std::ptrdiff_t row, T* out, std::ptrdiff_t ld) {
        V from[W], to[W];
        for (std::ptrdiff_t i = 0; i < W; ++i) __builtin_memcpy(&from[i], x + i * row, sizeof(V));
        for (std::ptrdiff_t stage = 1; stage < W; stage *= 2) {
            for (std::ptrdiff_t i = 0; i < W / 2; ++i) {
                interleave(from[i], from[i + W / 2], to[2 * i], to[2 * i + 1],
                           std::make_integer_sequence<int, static_cast<int>(W)>{});
            }
            std::swap(from, to);
        }
        for (std::ptrdiff_t i = 0; i < W; ++i) __builtin_memcpy(out + i * ld, &from[i], sizeof(V));
    }
};

// Transposes x, n rows of `depth` numbers, `row` apart: out[k ld + j] = x[j row + k], and 0 for j from n to ld.
template <class T>
inline void transpose_into(const T* x, std::ptrdiff_t row, std::size_t n, std::size_t depth, T* out, std::size_t ld) {
    constexpr std::size_t W = Vec<T>::size;
    for (std::size_t j = 0; j < n; j += W) {
        for (std::size_t k = 0; k < depth; k += W) {
            const T* const from = x + static_cast<std::ptrdiff_t>(j) * row + static_cast<std::ptrdiff_t>(k);
            T* const to = out + k * ld + j;
            if (j + W <= n && k + W <= depth) {
                TransposedBlock<T>::store(from, row, to, static_cast<std::ptrdiff_t>(ld));
                continue;
            }
            const std::size_t rows = std::min(W, n - j), columns = std::min(W, depth - k);
            for (std::size_t c = 0; c < columns; ++c) {
                for (std::size_t r = 0; r < rows; ++r) {
                    const T* const one = from + static_cast<std::ptrdiff_t>(r) * row + static_cast<std::ptrdiff_t>(c);
                    __builtin_memcpy(to + c * ld + r, one, sizeof(T));  // pairs may lie in memory as two numbers
                }
            }
        }
    }
    for (std::size_t k = 0; k < depth && n < ld; ++k) std::fill(out + k * ld + n, out + (k + 1) * ld, T{0});
}

// Compiled if the compiler may use the instruction, called only if has_bf16_products(), because the library for AVX-512
// also runs on CPUs without it.
#ifdef __AVX512BF16__
using Pair = std::uint32_t;
inline Vec<float> multiply_add(const Vec<Pair>& a, const Vec<Pair>& b, const Vec<float>& c) {
    const __m512i x = a, y = b;
    return _mm512_dpbf16_ps(c, reinterpret_cast<const __m512bh&>(x), reinterpret_cast<const __m512bh&>(y));
}
#endif

// Hides from the compiler how a value was computed, so that it keeps the value in a register and does not recompute it.
template <class V>
inline void keep_in_register(V& value) {
    asm("" : "+r"(value));
}

// A tile's extra work every 16 steps of K: prefetching, or nothing.
struct FetchNothing {
    void operator()() const {}
};

// The tile of C that the registers hold, beside a row of B and one number of A: 24 of 32 registers, or 12 of 16. That
// suffices for two multiplications per cycle that take 4 cycles each.
template <class T>
struct Tile {
    static constexpr bool many_registers = sizeof(T) * Vec<T>::size == 64;  // AVX-512
    static constexpr std::size_t rows = many_registers ? 8 : 6, vectors = many_registers ? 3 : 2;
};

// MR x (NV vectors) of C in registers; they begin with `bias`, if any. The loops over the tile are unrolled at any
// level of optimization: otherwise the tile stays in memory, which takes eight times as long.
template <std::size_t MR, std::size_t NV, class E, class T, class Fetch>
inline void product_tile(std::size_t K, const E* A, std::ptrdiff_t a_row, std::ptrdiff_t a_col, const E* B,
                         std::ptrdiff_t ldb, T* C, std::ptrdiff_t ldc, bool accumulate, const T* bias, Fetch& fetch) {
    constexpr auto W = static_cast<std::ptrdiff_t>(Vec<T>::size);
    constexpr auto rows = static_cast<std::ptrdiff_t>(MR), vectors = static_cast<std::ptrdiff_t>(NV);
    Vec<T> c[MR][NV];
#pragma GCC unroll 16
    for (std::ptrdiff_t v = 0; v < vectors; ++v) {
        const Vec<T> start = bias ? Vec<T>::load_unaligned(bias + v * W) : Vec<T>(T{0});
#pragma GCC unroll 16
        for (std::ptrdiff_t r = 0; r < rows; ++r) {
            c[r][v] = accumulate ? Vec<T>::load_unaligned(C + r * ldc + v * W) + start : start;
        }
    }
    // Reads four rows of A from one pointer: a pointer or a step for each row would need too many registers.
    std::ptrdiff_t three_rows = 3 * a_row;
    keep_in_register(three_rows);
    const E* four[(MR + 3) / 4];
#pragma GCC unroll 16
    for (std::ptrdiff_t i = 0; 4 * i < rows; ++i) {
        four[i] = A + 4 * i * a_row;
        keep_in_register(four[i]);
    }
    const std::size_t piece = std::is_same_v<Fetch, const FetchNothing> ? K : 16;
    for (std::size_t done = 0; done < K; done += piece) {
        fetch();
        for (std::size_t k = std::min(piece, K - done); k > 0; --k, B += ldb) {
            Vec<E> b[NV];
#pragma GCC unroll 16
            for (std::ptrdiff_t v = 0; v < vectors; ++v) b[v] = Vec<E>::load_unaligned(B + v * W);
#pragma GCC unroll 16
            for (std::ptrdiff_t r = 0; r < rows; ++r) {
                const Vec<E> a(four[r / 4][r % 4 == 3 ? three_rows : r % 4 * a_row]);
#pragma GCC unroll 16
                for (std::ptrdiff_t v = 0; v < vectors; ++v) c[r][v] = multiply_add(a, b[v], c[r][v]);
            }
#pragma GCC unroll 16
            for (const E*& from : four) from += a_col;
        }
    }
#pragma GCC unroll 16
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
#pragma GCC unroll 16
        for (std::ptrdiff_t v = 0; v < vectors; ++v) c[r][v].store_unaligned(C + r * ldc + v * W);
    }
}

template <std::size_t NV, std::size_t MR, class E, class T, class Fetch = const FetchNothing>
inline void product_strip(std::size_t M, std::size_t K, const E* A, std::ptrdiff_t a_row, std::ptrdiff_t a_col,
                          const E* B, std::ptrdiff_t ldb, T* C, std::ptrdiff_t ldc, bool accumulate,
                          const T* bias = nullptr, Fetch&& fetch = {}) {
    std::size_t m = 0;
    const auto at = [&](std::size_t row) { return static_cast<std::ptrdiff_t>(row); };
    for (; m + MR <= M; m += MR) {
        product_tile<MR, NV>(K, A + at(m) * a_row, a_row, a_col, B, ldb, C + at(m) * ldc, ldc, accumulate, bias, fetch);
    }
    for (; m + 4 <= M; m += 4) {
        product_tile<4, NV>(K, A + at(m) * a_row, a_row, a_col, B, ldb, C + at(m) * ldc, ldc, accumulate, bias, fetch);
    }
    for (; m + 2 <= M; m += 2) {
        product_tile<2, NV>(K, A + at(m) * a_row, a_row, a_col, B, ldb, C + at(m) * ldc, ldc, accumulate, bias, fetch);
    }
    for (; m < M; ++m) {
        product_tile<1, NV>(K, A + at(m) * a_row, a_row, a_col, B, ldb, C + at(m) * ldc, ldc, accumulate, bias, fetch);
    }
}

// C (M, N) (+)= A (M, K) B (K, N); element (m, k) of A is A[m a_row + k a_col]. For pairs K counts the pairs.
template <class E, class T>
inline void tile_product(std::size_t M, std::size_t N, std::size_t K, const E* A, std::ptrdiff_t a_row,
                         std::ptrdiff_t a_col, const E* B, std::ptrdiff_t ldb, T* C, std::ptrdiff_t ldc,
                         bool accumulate) {
    constexpr std::size_t W = Vec<T>::size, R = Tile<T>::rows / 4 * 4;  // M is small, and mostly a multiple of four
    std::size_t n = 0;
    for (; n + 2 * W <= N; n += 2 * W) product_strip<2, R>(M, K, A, a_row, a_col, B + n, ldb, C + n, ldc, accumulate);
    for (; n + W <= N; n += W) product_strip<1, R>(M, K, A, a_row, a_col, B + n, ldb, C + n, ldc, accumulate);
    if (n == N) return;
    // The ragged end: its columns of B and C, padded to a vector.
    constexpr std::size_t kDepth = 64, kHeight = 8;
    const std::size_t rest = N - n;
    alignas(64) E b[kDepth * W];
    alignas(64) T c[kHeight * W];
    const auto at = [](std::size_t i, std::ptrdiff_t stride) { return static_cast<std::ptrdiff_t>(i) * stride; };
    for (std::size_t k = 0; k < K || k == 0; k += kDepth) {
        const std::size_t depth = std::min(kDepth, K - k);
        for (std::size_t i = 0; i < depth; ++i) load_part(B + at(k + i, ldb) + n, rest).store_aligned(b + i * W);
        for (std::size_t m = 0; m < M; m += kHeight) {
            const std::size_t height = std::min(kHeight, M - m);
            T* const to = C + at(m, ldc) + n;
            const bool add = accumulate || k > 0;
            for (std::size_t r = 0; r < height && add; ++r) {
                load_part(to + at(r, ldc), rest).store_aligned(c + r * W);
            }
            product_strip<1, R>(height, depth, A + at(m, a_row) + at(k, a_col), a_row, a_col, b, at(1, W), c, at(1, W),
                                add);
            for (std::size_t r = 0; r < height; ++r) {
                store_part(to + at(r, ldc), Vec<T>::load_aligned(c + r * W), rest);
            }
        }
    }
}

}  // namespace inkling
