// 16-bit floats, and float32: bfloat16 (8 exponent bits, 7 of fraction) and f16 (IEEE half: 5 and 10).
// Widening is exact for every pattern. Narrowing rounds to nearest, ties to even; too large a number becomes infinity.
// A NaN keeps its sign and leading payload bits, so narrow(widen(x)) == x for all 65,536 patterns.
//   std::uint16_t h = f32_to_f16(0.1f);   float x = f16_to_f32(h);
#pragma once

#include <bit>
#include <cstdint>

namespace inkling {

// bfloat16: the upper half of a float32.
struct BFloat16 {
    std::uint16_t bits;
};

inline float widen(BFloat16 h) { return std::bit_cast<float>(static_cast<std::uint32_t>(h.bits) << 16); }

inline BFloat16 round_to_bfloat16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const std::uint32_t top = bits >> 16;  // a NaN keeps its payload, which must not be 0: that would be infinity
    const std::uint32_t nan = (top & 0x7fu) != 0 ? top : top | 0x40u;
    return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

inline float f16_to_f32(std::uint16_t h) {
    const std::uint32_t sign = (h & 0x8000u) << 16;
    std::uint32_t bits = (h & 0x7fffu) << 13;
    if (bits >= 0x1fu << 23) {  // infinity, NaN
        bits |= 0x7f800000u;
    } else if (bits >= 1u << 23) {
        bits += (127u - 15u) << 23;
    } else {  // zero or subnormal: fraction * 2^-24, exact in float32, where it is normal
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(bits >> 13) * 0x1p-24f);
    }
    return std::bit_cast<float>(sign | bits);
}

inline std::uint16_t f32_to_f16(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = (all >> 16) & 0x8000u;
    const std::uint32_t bits = all & 0x7fffffffu;
    std::uint32_t half = 0;
    if (bits > 0x7f800000u) {  // NaN
        const std::uint32_t payload = (bits >> 13) & 0x3ffu;
        half = 0x7c00u | (payload != 0 ? payload : 0x200u);
    } else if (bits >=
               (127u + 16u) << 23) {  // 65,536 and more; from 65,520 on, the rounding below carries into infinity
        half = 0x7c00u;
    } else if (bits < (127u - 14u) << 23) {  // subnormal or zero: adding 0.5 rounds to multiples of 2^-24
        half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
    } else {
        half = (bits - ((127u - 15u) << 23) + 0xfffu + ((bits >> 13) & 1u)) >> 13;
    }
    return static_cast<std::uint16_t>(sign | half);
}

}  // namespace inkling
