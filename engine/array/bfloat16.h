// bfloat16: the upper half of a float32 (8 exponent bits, 7 of fraction), and arrays of it, which matrix products take.
//   Array<BFloat16> h = round_to_bfloat16(x);     // to nearest, ties to even; NaN stays NaN
#pragma once

#include <bit>
#include <cstdint>

#include "engine/array/array.h"

namespace inkling {

struct BFloat16 {
    std::uint16_t bits;
};

inline float widen(BFloat16 h) { return std::bit_cast<float>(static_cast<std::uint32_t>(h.bits) << 16); }

inline BFloat16 round_to_bfloat16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const std::uint32_t top = bits >> 16;  // of a NaN: its payload stays, and is never 0, which would be infinity
    const std::uint32_t nan = (top & 0x7fu) != 0 ? top : top | 0x40u;
    return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

extern template class ConstArray<BFloat16>;
extern template class Array<BFloat16>;

Array<BFloat16> round_to_bfloat16(const ConstArray<float>& x);  // contiguous, whatever the strides of x
Array<float> widen(const ConstArray<BFloat16>& h);

// x (rows, columns), dense: rounded, and the sums of its columns, in one pass.
Array<BFloat16> round_and_sum(const ConstArray<float>& x, Array<float>& column_sums);

}  // namespace inkling
