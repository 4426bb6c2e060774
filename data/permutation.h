// A random order of 0 .. n-1 without storing it: permute(key, i, n) is the i-th element of a permutation that depends
// on (key, n). A Feistel network with Philox as its round function permutes [0, 4^k) for the least 4^k >= n; numbers
// that land outside [0, n) are sent through again until they land inside (cycle walking, Black and Rogaway 2002), fewer
// than 4 times on average.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/base/random.h"

namespace inkling::data {

// i < n, and the result < n; one to one for a given key and n <= 2^62.
inline std::uint64_t permute(const RandomKey& key, std::uint64_t i, std::uint64_t n) {
    constexpr std::uint64_t rounds = 8;
    const auto half_bits = n > 1 ? (std::bit_width(n - 1) + 1) / 2 : 1;
    const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
    do {
        std::uint64_t left = i >> half_bits, right = i & mask;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            const std::uint64_t mixed = (left ^ random_words(key, round << 32 | right)[0]) & mask;
            left = right;
            right = mixed;
        }
        i = left << half_bits | right;
    } while (i >= n);
    return i;
}

}  // namespace inkling::data
