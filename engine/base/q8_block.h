// Rounds numbers to llama.cpp's q8_0: blocks of 32 numbers d q, with a float16 scale d = max |x| / 127 and int8 q.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/base/half.h"

namespace inkling {

inline constexpr std::size_t kQ8Block = 32;

// Rounds a block, ties away from zero; returns d. Loops that compilers make vectors of.
inline std::uint16_t round_to_q8(const float* x, std::int8_t* q) {
    std::uint32_t most = 0;  // the bits of positive numbers are in the order of the numbers
    for (std::size_t i = 0; i < kQ8Block; ++i) most = std::max(most, std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFF);
    const float d = std::bit_cast<float>(most) / 127;
    const float inverse = std::isfinite(1 / d) ? 1 / d : 0;  // d that small is 0 in float16 anyway
    for (std::size_t i = 0; i < kQ8Block; ++i) {
        const float exact = x[i] * inverse;
        const auto whole = static_cast<std::int32_t>(exact);
        const float rest = exact - static_cast<float>(whole);
        q[i] = static_cast<std::int8_t>(whole + (rest >= 0.5f) - (rest <= -0.5f));
    }
    return f32_to_f16(d);
}

}  // namespace inkling
