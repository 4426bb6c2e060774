// Counter-based random numbers: Random123's Philox-4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as
// 1, 2, 3"). A number is a pure function of (seed, stream, index), so it does not depend on threads or on the order of
// calls, and backward can recompute a dropout mask instead of storing it.
#pragma once

#include <Random123/philox.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace inkling {

// Selects a sequence: numbers of different keys are independent.
struct RandomKey {
    std::uint64_t seed = 0;
    std::uint64_t stream = 0;
};

// Four independent 32-bit words for one index of the key's sequence.
inline r123::Philox4x32::ctr_type random_words(const RandomKey& key, std::uint64_t index) {
    const auto lo = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    const auto hi = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
    return r123::Philox4x32{}({{lo(index), hi(index), lo(key.stream), hi(key.stream)}}, {{lo(key.seed), hi(key.seed)}});
}

// Word number e of a key's sequence is word e % 4 of random_words(key, e / 4). out[i] = word first + i.
void random_words_range(const RandomKey& key, std::uint64_t first, std::size_t n, std::uint32_t* out);

// An element is dropped with probability p when its word is below this.
inline std::uint32_t dropout_threshold(double p) {
    return static_cast<std::uint32_t>(std::fmin(std::round(p * 0x1p32), 0x1p32 - 1));
}

// Uniform in [0, 1) with 53 random bits.
inline double random_uniform(const RandomKey& key, std::uint64_t index) {
    const auto w = random_words(key, index);
    return static_cast<double>((std::uint64_t{w[0]} << 21) ^ (w[1] >> 11)) * 0x1p-53;
}

// Standard normal, by Box and Muller.
double random_normal(const RandomKey& key, std::uint64_t index);

// An integer in [0, n), n > 0, without modulo bias (Lemire 2019; 64-bit words make it below 2^-32).
inline std::uint64_t random_below(const RandomKey& key, std::uint64_t index, std::uint64_t n) {
    const auto w = random_words(key, index);
    const std::uint64_t word = (std::uint64_t{w[0]} << 32) | w[1];
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(word) * n) >> 64);
}

// Hands out keys, one per use: the streams of a seed in order. These two numbers are its whole state.
struct Generator {
    std::uint64_t seed = 0;
    std::uint64_t next_stream = 0;

    RandomKey next() { return {seed, next_stream++}; }
};

}  // namespace inkling
