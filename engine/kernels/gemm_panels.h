// Packing: copies operands of a product into the layout that the register tiles read, with adjacent words of one K, and
// rounds to bfloat16 if asked to. Only for gemm_blocks.cpp.
#pragma once

#include <cstring>

#include "engine/kernels/gemm_kernels.h"

namespace inkling::kernels {

// A matrix indexed by K: `along` and `across` are the steps along K and across it.
template <class Format, class In>
struct OperandView {
    const In* data;
    std::ptrdiff_t along, across;
    using Word = typename Format::Word;
    static constexpr std::size_t numbers = Format::numbers;

    OperandView at(std::size_t k, std::size_t j) const {
        return {data + static_cast<std::ptrdiff_t>(k) * along + static_cast<std::ptrdiff_t>(j) * across, along, across};
    }
    Word word(std::size_t k, std::size_t j, std::size_t depth) const {
        return Format::pack(*at(k, j).data, k + 1 < depth ? *at(k + 1, j).data : In{});
    }
    // Whether `depth` numbers along K already lie in memory as words.
    bool has_words(std::size_t depth) const {
        constexpr bool same = sizeof(Word) == numbers * sizeof(In) &&
                              (std::is_same_v<In, Word> ? std::is_same_v<Format, Full<In>> : numbers == 2);
        return same && along == 1 && across % static_cast<std::ptrdiff_t>(numbers) == 0 && depth % numbers == 0 &&
               reinterpret_cast<std::uintptr_t>(data) % sizeof(Word) == 0;
    }
    const Word* words() const { return reinterpret_cast<const Word*>(data); }
};

#ifdef __AVX512BF16__
// As round_to_bfloat16, except that the instruction takes subnormal numbers for 0.
inline __m256i rounded(const float* x) {
    const __m256bh h = _mm512_cvtneps_pbh(_mm512_loadu_ps(x));
    return reinterpret_cast<const __m256i&>(h);
}
inline __m256i rounded(const BFloat16* x) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)); }

// 16 pairs of a row and the next.
template <class In>
inline void interleave(const In* row, const In* next, Pair* out) {
    const __m512i low = _mm512_cvtepu16_epi32(rounded(row)), high = _mm512_cvtepu16_epi32(rounded(next));
    _mm512_storeu_si512(out, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
}

// 8 pairs.
inline __m256i both_rounded(const float* row, const float* next) {
    const __m512 both = _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(row)), _mm256_loadu_ps(next), 1);
    const __m256bh h = _mm512_cvtneps_pbh(both);
    return reinterpret_cast<const __m256i&>(h);
}
inline __m256i both_rounded(const BFloat16* row, const BFloat16* next) {
    return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(next), reinterpret_cast<const __m128i*>(row));
}
template <class In>
inline void interleave_8(const In* row, const In* next, Pair* out) {
    const __m256i h = both_rounded(row, next);
    const __m128i low = _mm256_castsi256_si128(h), high = _mm256_extracti128_si256(h, 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm256_set_m128i(_mm_unpackhi_epi16(low, high), _mm_unpacklo_epi16(low, high)));
}
#endif

// Widens four numbers at once; the compiler would gather the six of a row one by one.
inline void widen_four(const BFloat16* from, float* to) {
    typedef std::uint16_t Four __attribute__((vector_size(8)));
    typedef std::uint32_t Wide __attribute__((vector_size(16)));
    Four four;
    std::memcpy(&four, from, sizeof four);
    const Wide wide = __builtin_convertvector(four, Wide) << 16;
    std::memcpy(to, &wide, sizeof wide);
}

// Words of a row and, if words are pairs, of the next, for Width adjacent columns. The compiler vectorises it because
// it knows that the output does not overlap the input.
template <std::size_t Width, class Format, class In>
inline void pack_row(const In* __restrict row, const In* __restrict next, typename Format::Word* __restrict out) {
    std::size_t j = 0;
#ifdef __AVX512BF16__
    if constexpr (Format::numbers == 2) {
        for (; j + 16 <= Width; j += 16) interleave(row + j, next + j, out + j);
        for (; j + 8 <= Width; j += 8) interleave_8(row + j, next + j, out + j);
    }
#endif
    if constexpr (std::is_same_v<Format, Rounded> && std::is_same_v<In, BFloat16> && Width > 4 && Width % 4 != 0) {
        for (; j < Width; j += 4) widen_four(row + std::min(j, Width - 4), out + std::min(j, Width - 4));
    }
    for (; j < Width; ++j) out[j] = Format::pack(row[j], next[j]);
}

// Adjacent columns become rows of words, `row` words apart.
template <class Format, class In>
void pack_rows(const OperandView<Format, In>& x, std::size_t depth, std::size_t columns, typename Format::Word* out,
               std::size_t row) {
    for (std::size_t j = 0; j < columns; ++j, out += row) {
        std::size_t k = 0;
        if constexpr (Format::numbers == 1) {  // a separate loop, which the compiler vectorizes
            const In* const from = x.at(0, j).data;
            for (; x.along == 1 && k < depth; ++k) out[k] = Format::pack(from[k], from[k]);
        }
#ifdef __AVX512BF16__
        if constexpr (Format::numbers == 2) {
            for (; x.along == 1 && k + 16 <= depth; k += 16) {
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + k / 2), rounded(x.at(k, j).data));
            }
        }
#endif
        for (; k < depth; k += Format::numbers) out[k / Format::numbers] = x.word(k, j, depth);
    }
}

// Prefetches rows k to k + count, of `depth`, from column j to j_end. The hardware does not, because the rows are too
// short and too far apart.
template <class Format, class In>
void prefetch(const OperandView<Format, In>& x, std::size_t k, std::size_t count, std::size_t depth, std::size_t j,
              std::size_t j_end) {
    for (std::size_t row = k; row < std::min(k + count, depth); ++row) {
        for (std::size_t column = j; column < j_end; column += 64 / sizeof(In)) {
            __builtin_prefetch(x.at(row, column).data);
        }
    }
}

// Prefetches the next block of a matrix, one line at a time, during the product of the current block. All lines at once
// would be more loads than the CPU can have outstanding.
class LinesAhead {
  public:
    LinesAhead() = default;
    template <class Format, class In>
    LinesAhead(const OperandView<Format, In>& x, std::size_t depth, std::size_t columns)
        : line_(reinterpret_cast<const char*>(x.data)) {
        const bool along = x.along == 1;  // dense along K
        if (!along && x.across != 1) return;
        runs_ = along ? columns : depth;
        lines_ = left_ = ((along ? depth : columns) * sizeof(In) + 63) / 64;
        skip_ = (along ? x.across : x.along) * static_cast<std::ptrdiff_t>(sizeof(In)) -
                static_cast<std::ptrdiff_t>(64 * lines_);
    }
    void operator()() {
        if (runs_ == 0) return;
        __builtin_prefetch(line_, 0, 2);  // into L2
        line_ += 64;
        if (--left_ > 0) return;
        line_ += skip_;
        left_ = lines_;
        --runs_;
    }

  private:
    const char* line_ = nullptr;
    std::size_t runs_ = 0, lines_ = 0, left_ = 0;  // runs of lines; lines in each, and left of this one
    std::ptrdiff_t skip_ = 0;                      // bytes from a run's end to the next
};

// Packs panels first to last of `columns` columns. A panel has Width columns side by side, with words 0 after the last
// column, and K downwards. It starts `step` words after the previous panel. `scratch` holds Width rows of words.
template <std::size_t Width, class Format, class In>
void pack_panels(const OperandView<Format, In>& x, std::size_t depth, std::size_t columns, std::size_t first,
                 std::size_t last, typename Format::Word* out, std::size_t step, typename Format::Word* scratch) {
    constexpr std::size_t kTogether = 8;  // rows of words to read side by side
    using Word = typename Format::Word;
    const std::size_t words = (depth + Format::numbers - 1) / Format::numbers;
    if (x.along == 1) {
        for (std::size_t p = first; p < last; ++p) {
            const std::size_t here = std::min(Width, columns - p * Width);
            const OperandView<Format, In> panel = x.at(0, p * Width);
            const bool ready = panel.has_words(depth);
            if (!ready) pack_rows(panel, depth, here, scratch, words);
            transpose_into(ready ? panel.words() : scratch,
                           ready ? panel.across / static_cast<std::ptrdiff_t>(Format::numbers)
                                 : static_cast<std::ptrdiff_t>(words),
                           here, words, out + p * step, Width);
        }
        return;
    }
    for (std::size_t begin = 0; begin < words; begin += kTogether) {
        const std::size_t end = std::min(words, begin + kTogether);
        if (x.across == 1)
            prefetch(x, (begin + 2 * kTogether) * Format::numbers, kTogether * Format::numbers, depth, first * Width,
                     std::min(last * Width, columns));
        for (std::size_t p = first; p < last; ++p) {
            Word* to = out + p * step + begin * Width;
            const std::size_t here = std::min(Width, columns - p * Width);
            const OperandView<Format, In> panel = x.at(0, p * Width);
            std::size_t w = begin;
            if (x.across == 1 && here == Width) {
                const In* row = panel.at(w * Format::numbers, 0).data;
                const std::ptrdiff_t next = static_cast<std::ptrdiff_t>(Format::numbers - 1) * x.along;
                for (; w < std::min(end, depth / Format::numbers); ++w, to += Width) {
                    pack_row<Width, Format>(row, row + next, to);
                    row += next + x.along;
                }
            }
            for (; w < end; ++w, to += Width) {
                for (std::size_t j = 0; j < here; ++j) to[j] = panel.word(w * Format::numbers, j, depth);
                std::fill(to + here, to + Width, Word{0});
            }
        }
    }
}

}  // namespace inkling::kernels
