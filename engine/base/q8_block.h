// Rounds numbers to llama.cpp's q8_0: blocks of 32 numbers d q, with a scale d = max |x| / 127 and int8 q.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace inkling {

inline constexpr std::size_t kQ8Block = 32;

// Rounds a block, ties away from zero; returns d. A block that is not finite becomes zeros, and d NaN. Compilers
// vectorize its loops.
inline float round_to_q8(const float* x, std::int8_t* q) {
    std::uint32_t most = 0;  // the bits of positive numbers are in the order of the numbers
    for (std::size_t i = 0; i < kQ8Block; ++i) most = std::max(most, std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFF);
    const float largest = std::bit_cast<float>(most);
    if (!std::isfinite(largest)) {
        std::fill_n(q, kQ8Block, std::int8_t{0});
        return std::numeric_limits<float>::quiet_NaN();
    }
    const float d = largest / 127;
    const float inverse = std::isfinite(1 / d) ? 1 / d : 0;  // d that small is 0 in float16 anyway
    for (std::size_t i = 0; i < kQ8Block; ++i) {
        const float exact = x[i] * inverse;
        const auto whole = static_cast<std::int32_t>(exact);
        const float rest = exact - static_cast<float>(whole);
        q[i] = static_cast<std::int8_t>(whole + (rest >= 0.5f) - (rest <= -0.5f));
    }
    return d;
}

}  // namespace inkling
