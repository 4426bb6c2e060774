#include "engine/base/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/portable_math.h"

namespace inkling {
namespace {

constexpr std::size_t kLanes = 16;

// Philox-4x32-10 for 16 counters side by side: the same numbers as random_words(), in loops that the compiler turns
// into vector instructions. Constants from Salmon et al. 2011.
void sixteen_groups(const RandomKey& key, std::uint64_t group, std::uint32_t* out) {
    std::uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) {
        c0[i] = static_cast<std::uint32_t>(group + i);
        c1[i] = static_cast<std::uint32_t>((group + i) >> 32);
        c2[i] = static_cast<std::uint32_t>(key.stream);
        c3[i] = static_cast<std::uint32_t>(key.stream >> 32);
    }
    auto k0 = static_cast<std::uint32_t>(key.seed), k1 = static_cast<std::uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        for (std::size_t i = 0; i < kLanes; ++i) {
            const std::uint64_t a = std::uint64_t{0xD2511F53u} * c0[i], b = std::uint64_t{0xCD9E8D57u} * c2[i];
            c0[i] = static_cast<std::uint32_t>(b >> 32) ^ c1[i] ^ k0;
            c1[i] = static_cast<std::uint32_t>(b);
            c2[i] = static_cast<std::uint32_t>(a >> 32) ^ c3[i] ^ k1;
            c3[i] = static_cast<std::uint32_t>(a);
        }
    }
    for (std::size_t i = 0; i < kLanes; ++i) {
        out[4 * i] = c0[i], out[4 * i + 1] = c1[i], out[4 * i + 2] = c2[i], out[4 * i + 3] = c3[i];
    }
}

}  // namespace

double random_normal(const RandomKey& key, std::uint64_t index) {
    const auto w = random_words(key, index);
    const double u = (static_cast<double>((std::uint64_t{w[0]} << 21) ^ (w[1] >> 11)) + 0.5) * 0x1p-53;
    const double v = static_cast<double>((std::uint64_t{w[2]} << 21) ^ (w[3] >> 11)) * 0x1p-53;
    return std::sqrt(-2.0 * portable::log(u)) * portable::cos(2.0 * std::numbers::pi * v);
}

void random_words_range(const RandomKey& key, std::uint64_t first, std::size_t n, std::uint32_t* out) {
    std::uint32_t words[4 * kLanes];
    std::uint64_t group = first / 4;
    std::size_t skip = first % 4;
    for (std::size_t done = 0; done < n; group += kLanes, skip = 0) {
        sixteen_groups(key, group, words);
        const std::size_t count = std::min(n - done, 4 * kLanes - skip);
        std::copy_n(words + skip, count, out + done);
        done += count;
    }
}

}  // namespace inkling
