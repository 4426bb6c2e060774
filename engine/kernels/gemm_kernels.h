// The kernels of engine/array/gemm.cpp, each in its own file: products that fit L1 (gemm_small.cpp), and blocks
// for all others (gemm_blocks.cpp). Other files must not include this one.
#pragma once

#include <array>

#include "engine/base/dims.h"
#include "engine/base/half.h"
#include "engine/kernels/tile_product.h"

namespace inkling::kernels {

// A product with the batch axes merged: batch (count.., strides of a, b, c), then M, N, K with row and column strides.
struct GemmShape {
    Shape batch = {};
    std::array<Strides, 3> batch_strides = {};
    std::size_t m, n, k;
    std::ptrdiff_t a_row, a_col, b_row, b_col, c_row, c_col;

    std::size_t batches() const { return size_of(batch); }
    std::size_t work() const { return batches() * m * n * k; }  // multiply-adds
    std::ptrdiff_t batch_offset(std::size_t operand, std::size_t index) const {
        return offset_of(index, batch, batch_strides[operand], batch.size());
    }
};

// Formats of the factors: unchanged, or rounded to bfloat16. A word fills a lane of a register; small products have
// words of one number.
template <class T>
struct Full {
    using Small = Full;
    using Result = T;
    using Word = T;
    static constexpr std::size_t numbers = 1;  // in a word
    static T convert(T x) { return x; }
    static T pack(T x, T) { return x; }
};

// Rounded to bfloat16, one per word. RoundedPairs has two per word, which the CPU multiplies and adds at once.
struct Rounded {
    using Small = Rounded;
    using Result = float;
    using Word = float;
    static constexpr std::size_t numbers = 1;
    static BFloat16 round(float x) { return round_to_bfloat16(x); }
    static BFloat16 round(BFloat16 x) { return x; }
    template <class In>
    static float convert(In x) {
        return widen(round(x));
    }
    template <class In>
    static float pack(In x, In) {
        return convert(x);
    }
};

#ifdef __AVX512BF16__
struct RoundedPairs : Rounded {
    using Word = Pair;  // two adjacent numbers along K
    static constexpr std::size_t numbers = 2;
    template <class In>
    static Pair pack(In low, In high) {
        return static_cast<Pair>(round(low).bits) | static_cast<Pair>(round(high).bits) << 16;
    }
};
#define INKLING_FOR_EACH_PAIR_PRODUCT(X) INKLING_FOR_EACH_ROUNDED_PRODUCT(X, RoundedPairs)
#else
#define INKLING_FOR_EACH_PAIR_PRODUCT(X)
#endif

// C (+)= A B + bias; bias may be null.
template <class Format, class A, class B>
void small(const GemmShape& p, const A* a, const B* b, typename Format::Result* c, bool accumulate,
           const typename Format::Result* bias);

// C's rows must be dense.
template <class Format, class A, class B>
void blocks(const GemmShape& p, const A* a, const B* b, typename Format::Result* c, bool accumulate,
            const typename Format::Result* bias);

// One translation unit for each kernel: the combinations that gemm() uses.
#define INKLING_FOR_EACH_ROUNDED_PRODUCT(X, Format) \
    X(Format, float, float)                         \
    X(Format, float, BFloat16)                      \
    X(Format, BFloat16, float)                      \
    X(Format, BFloat16, BFloat16)
#define INKLING_FOR_EACH_PRODUCT(X) \
    X(Full<float>, float, float)    \
    X(Full<double>, double, double) \
    INKLING_FOR_EACH_ROUNDED_PRODUCT(X, Rounded)

}  // namespace inkling::kernels
