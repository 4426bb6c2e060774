// The operands of attention's products: numbers (FloatOperands), or pairs of bfloat16 in one word each (PairOperands).
// An operand has three layouts; the others are made from the first:
//   natural     one row per position, pairs along the row: the left operand of a product over the columns
//   stacked     one row per two positions, each pair a number of both: the right operand of a product over the
//               positions, or its left operand, transposed. right() packs it, because the rows of a head lie far
//               apart in memory and map to few sets of L1.
//   transposed  one row per column: the right operand of a product over the columns
#pragma once

#include <bit>

#include "engine/array/rows.h"
#include "engine/kernels/lanes.h"
#include "engine/kernels/tile_product.h"

namespace inkling {

// One head of an array (B, H, L, d) with dense rows, or any matrix with dense rows.
template <class T>
struct HeadMatrix {
    T* data;
    std::ptrdiff_t row;
    T* at(std::size_t i) const { return data + static_cast<std::ptrdiff_t>(i) * row; }
};

// Head h of row b of an array (B, H, L, d) with dense rows.
template <class To, class A>
HeadMatrix<To> head_of(const A& x, std::size_t b, std::size_t h) {
    const auto& s = x.strides();
    const auto at = [](std::size_t i, std::ptrdiff_t stride) { return static_cast<std::ptrdiff_t>(i) * stride; };
    auto* const data = const_cast<typename A::value_type*>(x.data()) + at(b, s[0]) + at(h, s[1]);
    return {reinterpret_cast<To*>(data), s[2] == 0 ? static_cast<std::ptrdiff_t>(x.dim(3)) : s[2]};
}

template <class T>
struct FloatOperands {
    using Element = T;           // of operands
    using Kept = ConstArray<T>;  // q, k and v as the products and backward take them, and y as backward does
    static constexpr std::size_t kPack = 1;

    static Kept kept(const Kept& x) { return x; }
    static Kept full(const Kept& y) { return y; }
    static T dot(const T* a, const T* b, std::size_t n) { return simd_dot(n, a, b); }
    static HeadMatrix<const T> natural(const HeadMatrix<const T>& x, std::size_t, std::size_t, T*) { return x; }
    static HeadMatrix<const T> stacked(const HeadMatrix<const T>& x, std::size_t, std::size_t, T*) { return x; }
    static HeadMatrix<const T> right(const HeadMatrix<const T>& x, std::size_t n, std::size_t width, T* out) {
        for (std::size_t i = 0; i < n; ++i) {
            simd_map(width, out + i * width, {x.at(i)}, [](auto v) { return v; });  // rows are short for memcpy
        }
        return {out, static_cast<std::ptrdiff_t>(width)};
    }
};

#ifdef __AVX512BF16__
struct PairOperands {
    using Element = Pair;
    using Kept = Array<std::int32_t>;  // natural pairs of (B, H, L, d)
    static constexpr std::size_t kPack = 2;

    static Kept kept(const ConstArray<float>& x) {
        const std::size_t B = x.dim(0), H = x.dim(1), L = x.dim(2), width = x.dim(3);
        Kept pairs({B, H, L, width / 2});
        each_row(B * H, L * width, [&](std::size_t i) {
            natural(head_of<const float>(x, i / H, i % H), L, width, head_of<Pair>(pairs, i / H, i % H).data);
        });
        return pairs;
    }
    static Array<float> full(const ConstArray<std::int32_t>& kept) {  // stored as (B, L, H, d)
        const std::size_t B = kept.dim(0), H = kept.dim(1), L = kept.dim(2), pairs = kept.dim(3);
        Array<float> y({B, L, H, 2 * pairs});
        float* const out = y.data();
        each_row(B * H, L * pairs, [&](std::size_t i) {
            const Pair* const from = head_of<const Pair>(kept, i / H, i % H).data;
            for (std::size_t l = 0; l < L; ++l) {
                float* const row = out + ((i / H * L + l) * H + i % H) * 2 * pairs;
                for (std::size_t j = 0; j < pairs; ++j) {
                    row[2 * j] = std::bit_cast<float>(from[l * pairs + j] << 16);
                    row[2 * j + 1] = std::bit_cast<float>(from[l * pairs + j] & 0xffff0000u);
                }
            }
        });
        return y.transposed(1, 2);
    }
    static float dot(const float* a, const Pair* b, std::size_t n) {
        __m512 sum = _mm512_setzero_ps();
        for (std::size_t i = 0; i < n; i += 16) {
            const auto lanes = static_cast<__mmask16>(n - i >= 16 ? 0xffffu : (1u << (n - i)) - 1);
            const __m512i half = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, b + i / 2));
            sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes, a + i), _mm512_castsi512_ps(_mm512_slli_epi32(half, 16)),
                                  sum);
        }
        return _mm512_reduce_add_ps(sum);
    }

    // n rows of `width` numbers, which is even.
    static HeadMatrix<const Pair> natural(const HeadMatrix<const float>& x, std::size_t n, std::size_t width,
                                          Pair* out) {
        for (std::size_t i = 0; i < n; ++i) {
            const float* const row = x.at(i);
            Pair* const to = out + i * width / 2;
            for (std::size_t j = 0; j < width; j += 16) {
                const auto lanes = static_cast<__mmask16>(width - j >= 16 ? 0xffffu : (1u << (width - j)) - 1);
                const __m256bh half = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(lanes, row + j));
                _mm256_mask_storeu_epi16(to + j / 2, lanes, reinterpret_cast<const __m256i&>(half));
            }
        }
        return {out, static_cast<std::ptrdiff_t>(width / 2)};
    }

    // From natural pairs; a missing last row is 0.
    static HeadMatrix<const Pair> stacked(const HeadMatrix<const Pair>& x, std::size_t n, std::size_t width,
                                          Pair* out) {
        alignas(64) std::uint16_t order[2][32];  // of the numbers 0 .. 31 of a, 32 .. 63 of b
        for (std::uint16_t i = 0; i < 32; ++i) {
            order[0][i] = static_cast<std::uint16_t>(i / 2 + i % 2 * 32);
            order[1][i] = static_cast<std::uint16_t>(order[0][i] + 16);
        }
        const __m512i low = _mm512_load_si512(order[0]), high = _mm512_load_si512(order[1]);
        for (std::size_t i = 0; i < n; i += 2) {
            Pair* const to = out + i / 2 * width;
            for (std::size_t j = 0; j < width / 2; j += 16) {
                const std::size_t pairs = std::min<std::size_t>(16, width / 2 - j);
                const auto lanes = static_cast<__mmask16>((1u << pairs) - 1);
                const __m512i a = _mm512_maskz_loadu_epi32(lanes, x.at(i) + j);
                const __m512i b = i + 1 < n ? _mm512_maskz_loadu_epi32(lanes, x.at(i + 1) + j) : _mm512_setzero_si512();
                const auto all = static_cast<__mmask32>((std::uint64_t{1} << (2 * pairs)) - 1);
                _mm512_mask_storeu_epi32(to + 2 * j, static_cast<__mmask16>(all), _mm512_permutex2var_epi16(a, low, b));
                if (pairs > 8) {
                    _mm512_mask_storeu_epi32(to + 2 * j + 16, static_cast<__mmask16>(all >> 16),
                                             _mm512_permutex2var_epi16(a, high, b));
                }
            }
        }
        return {out, static_cast<std::ptrdiff_t>(width)};
    }
    static HeadMatrix<const Pair> right(const HeadMatrix<const Pair>& x, std::size_t n, std::size_t width, Pair* out) {
        return stacked(x, n, width, out);
    }
};
#endif

}  // namespace inkling
