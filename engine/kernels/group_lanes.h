// Integers and floats of 16 rows of weights, a lane for each row, with the instructions of one kind of CPU: AVX-512
// with and without VNNI, AVX2, or none. Sums of integers are exact and each lane adds its floats in order, so all kinds
// give the same bits.
//   using L = Avx2Lanes;  auto sum = L::all(0);  L::dot(sum, L::load(weights), x);   // sum += 4 weights . 4 x, a lane
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "engine/base/half.h"
#include "engine/kernels/block_types.h"

namespace inkling::row_group {

// The same in loops, for other CPUs, and for tests.
struct PortableLanes {
    static constexpr std::size_t lanes = kRows, most = 4;  // lanes at a time; vectors that share a reading of weights
    static constexpr int signed_offset = 0;                // what as_signed() adds to weights
    struct Ints {
        std::uint32_t v[lanes];
    };
    struct Floats {
        float v[lanes];
    };
    template <class F>
    static auto each(const F& f) {
        using T = decltype(f(0));
        std::conditional_t<std::is_same_v<T, float>, Floats, Ints> out;
        for (std::size_t i = 0; i < lanes; ++i) out.v[i] = f(i);
        return out;
    }
    static Ints load(const std::byte* p) {
        Ints x;
        std::memcpy(&x, p, sizeof x);
        return x;
    }
    static Ints all(std::int32_t x) {
        return each([&](std::size_t) { return static_cast<std::uint32_t>(x); });
    }
    static Ints mask(const Ints& a, std::uint32_t bits) {
        return each([&](std::size_t i) { return a.v[i] & bits; });
    }
    static Ints either(const Ints& a, const Ints& b) {
        return each([&](std::size_t i) { return a.v[i] | b.v[i]; });
    }
    static Ints right(const Ints& a, unsigned n) {
        return each([&](std::size_t i) { return a.v[i] >> n; });
    }
    static Ints left(const Ints& a, unsigned n) {
        return each([&](std::size_t i) { return a.v[i] << n; });
    }
    static Ints arithmetic_right(const Ints& a, unsigned n) {
        return each([&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(a.v[i]) >> n); });
    }
    static Ints times(const Ints& a, std::uint32_t b) {
        return each([&](std::size_t i) { return a.v[i] * b; });
    }
    // sum += the four unsigned bytes of each lane . the four signed bytes at x
    static void dot(Ints& sum, const Ints& w, const std::int32_t* x) {
        std::int8_t four[4];
        std::memcpy(four, x, 4);
        for (std::size_t i = 0; i < lanes; ++i)
            for (unsigned k = 0; k < 4; ++k)
                sum.v[i] += static_cast<std::uint32_t>(static_cast<int>(w.v[i] >> 8 * k & 255) * four[k]);
    }
    // The same for weights that are signed bytes: dot_signed(sum, as_signed(w), x).
    static Ints as_signed(const Ints& w) { return w; }
    static void dot_signed(Ints& sum, const Ints& w, const std::int32_t* x) {
        std::int8_t four[4];
        std::memcpy(four, x, 4);
        for (std::size_t i = 0; i < lanes; ++i)
            for (unsigned k = 0; k < 4; ++k)
                sum.v[i] += static_cast<std::uint32_t>(static_cast<std::int8_t>(w.v[i] >> 8 * k) * four[k]);
    }
    static Floats halves(const std::byte* p) {
        return each([&](std::size_t i) {
            std::uint16_t half = 0;
            std::memcpy(&half, p + 2 * i, sizeof half);
            return f16_to_f32(half);
        });
    }
    static Floats load_floats(const float* p) {
        return each([&](std::size_t i) { return p[i]; });
    }
    static void store(float* p, const Floats& a) { std::memcpy(p, a.v, sizeof a.v); }
    static Floats all(float x) {
        return each([&](std::size_t) { return x; });
    }
    static Floats to_float(const Ints& a) {
        return each([&](std::size_t i) { return static_cast<float>(static_cast<std::int32_t>(a.v[i])); });
    }
    static Floats product(const Floats& a, const Floats& b) {
        return each([&](std::size_t i) { return a.v[i] * b.v[i]; });
    }
    static Floats fma(const Floats& a, const Floats& b, const Floats& c) {
        return each([&](std::size_t i) { return std::fma(a.v[i], b.v[i], c.v[i]); });
    }
};

#ifdef __AVX2__
struct Avx2Lanes {
    static constexpr std::size_t lanes = 8, most = 4;
    static constexpr int signed_offset = 0;
    using Ints = __m256i;
    using Floats = __m256;
    struct Signed {
        Ints size, w;  // |w| and w
    };
    static Ints load(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
    static Ints all(std::int32_t x) { return _mm256_set1_epi32(x); }
    static Ints mask(Ints a, std::uint32_t bits) { return _mm256_and_si256(a, all(static_cast<std::int32_t>(bits))); }
    static Ints either(Ints a, Ints b) { return _mm256_or_si256(a, b); }
    static Ints right(Ints a, unsigned n) { return _mm256_srli_epi32(a, static_cast<int>(n)); }
    static Ints left(Ints a, unsigned n) { return _mm256_slli_epi32(a, static_cast<int>(n)); }
    static Ints arithmetic_right(Ints a, unsigned n) { return _mm256_srai_epi32(a, static_cast<int>(n)); }
    static Ints times(Ints a, std::uint32_t b) { return _mm256_mullo_epi32(a, all(static_cast<std::int32_t>(b))); }
    static void add_pairs(Ints& sum, Ints pairs) {
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
    // The sums of two products fit 16 bits: weights are at most 63 here, and 128 in dot_signed.
    static void dot(Ints& sum, Ints w, const std::int32_t* x) { add_pairs(sum, _mm256_maddubs_epi16(w, all(*x))); }
    static Signed as_signed(Ints w) { return {_mm256_abs_epi8(w), w}; }
    static void dot_signed(Ints& sum, const Signed& w, const std::int32_t* x) {
        add_pairs(sum, _mm256_maddubs_epi16(w.size, _mm256_sign_epi8(all(*x), w.w)));
    }
    static Floats halves(const std::byte* p) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static Floats load_floats(const float* p) { return _mm256_loadu_ps(p); }
    static void store(float* p, Floats a) { _mm256_storeu_ps(p, a); }
    static Floats all(float x) { return _mm256_set1_ps(x); }
    static Floats to_float(Ints a) { return _mm256_cvtepi32_ps(a); }
    static Floats product(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
    static Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
};
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__)
template <bool kVnni>
struct Avx512Lanes {
    static constexpr std::size_t lanes = 16, most = 8;
    static constexpr int signed_offset = kVnni ? 128 : 0;
    using Ints = __m512i;
    using Floats = __m512;
    struct Sizes {
        Ints size;
        __mmask64 negative;
    };
    static Ints load(const std::byte* p) { return _mm512_loadu_si512(p); }
    static Ints all(std::int32_t x) { return _mm512_set1_epi32(x); }
    static Ints mask(Ints a, std::uint32_t bits) { return _mm512_and_si512(a, all(static_cast<std::int32_t>(bits))); }
    static Ints either(Ints a, Ints b) { return _mm512_or_si512(a, b); }
    static Ints right(Ints a, unsigned n) { return _mm512_srli_epi32(a, n); }
    static Ints left(Ints a, unsigned n) { return _mm512_slli_epi32(a, n); }
    static Ints arithmetic_right(Ints a, unsigned n) { return _mm512_srai_epi32(a, n); }
    static Ints times(Ints a, std::uint32_t b) { return _mm512_mullo_epi32(a, all(static_cast<std::int32_t>(b))); }
    static void add_pairs(Ints& sum, Ints pairs) {
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
    }
    static void dot(Ints& sum, Ints w, const std::int32_t* x) {
        if constexpr (kVnni) {
            // In assembler, because the library for AVX-512 also runs on CPUs without VNNI, and to read x from memory.
            asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(w), "m"(*x));
        } else {
            add_pairs(sum, _mm512_maddubs_epi16(w, all(*x)));
        }
    }
    static auto as_signed(Ints w) {
        if constexpr (kVnni) {
            return _mm512_xor_si512(w, all(static_cast<std::int32_t>(0x80808080)));  // w + 128, unsigned
        } else {
            return Sizes{_mm512_abs_epi8(w), _mm512_movepi8_mask(w)};
        }
    }
    template <class W>
    static void dot_signed(Ints& sum, const W& w, const std::int32_t* x) {
        if constexpr (kVnni) {
            dot(sum, w, x);
        } else {
            const Ints four = all(*x);
            const Ints turned = _mm512_mask_sub_epi8(four, w.negative, _mm512_setzero_si512(), four);
            add_pairs(sum, _mm512_maddubs_epi16(w.size, turned));
        }
    }
    static Floats halves(const std::byte* p) {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    static Floats load_floats(const float* p) { return _mm512_loadu_ps(p); }
    static void store(float* p, Floats a) { _mm512_storeu_ps(p, a); }
    static Floats all(float x) { return _mm512_set1_ps(x); }
    static Floats to_float(Ints a) { return _mm512_cvtepi32_ps(a); }
    static Floats product(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
    static Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
};
#endif

}  // namespace inkling::row_group
