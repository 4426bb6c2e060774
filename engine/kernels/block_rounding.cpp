// A search tries scales around the one that just holds all numbers; for the quants q of each, least squares give the
// best scale s and minimum m. Sums have a fixed order that compilers make vectors of: the same bits on every CPU.
//   with a minimum:  x = s q - m, 0 <= q <= levels, m >= 0, errors weighted by |x| + rms(x)
//   without:         x = s q, -half <= q < half, s of either sign, errors weighted by x^2
#include "engine/kernels/block_rounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/base/half.h"
#include "engine/base/q8_block.h"

namespace inkling {
namespace {

constexpr std::size_t kSuper = 256;  // numbers in a block of Q4_K, Q5_K, Q6_K

template <class Term>
float sum(std::size_t n, const Term& term) {
    constexpr std::size_t kLanes = 16;
    float lanes[kLanes] = {};
    for (std::size_t i = 0; i < n; i += kLanes)
        for (std::size_t j = 0; j < kLanes; ++j) lanes[j] += term(i + j);
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
        for (std::size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    return lanes[0];
}

// The quant in [0, levels] nearest to v.
inline float nearest(float v, float levels) {
    return static_cast<float>(static_cast<std::int32_t>(std::clamp(v, 0.0f, levels) + 0.5f));
}

float inverse_of(float x) { return std::isfinite(1 / x) ? 1 / x : 0; }

void put_half(float x, std::byte* out) {
    const std::uint16_t bits = f32_to_f16(x);
    std::memcpy(out, &bits, sizeof bits);
}
float as_half(float x) { return f16_to_f32(f32_to_f16(x)); }

struct Range {
    float scale = 0, minimum = 0;  // x = scale q - minimum

    // The squared error of N numbers, weighted by w; their quants.
    template <std::size_t N>
    float error(const float* x, const float* w, float levels, float* q) const {
        const float inverse = inverse_of(scale);
        for (std::size_t i = 0; i < N; ++i) q[i] = nearest((x[i] + minimum) * inverse, levels);
        return sum(N, [&](std::size_t i) {
            const float e = scale * q[i] - minimum - x[i];
            return w[i] * e * e;
        });
    }
};

template <std::size_t N>
std::array<float, N> weights_with_minimum(const float* x) {
    const float rms = std::sqrt(sum(N, [&](std::size_t i) { return x[i] * x[i]; }) / N);
    std::array<float, N> w;
    for (std::size_t i = 0; i < N; ++i) w[i] = rms + std::abs(x[i]);
    return w;
}

template <std::size_t N>
Range fit_range(const float* x, const float* w, float levels) {
    const float low = std::min(0.0f, *std::min_element(x, x + N)), high = *std::max_element(x, x + N);
    if (!(high > low)) return {0, -low};
    float q[N];
    Range best{(high - low) / levels, -low};
    float least = best.error<N>(x, w, levels, q);
    const float sw = sum(N, [&](std::size_t i) { return w[i]; }),
                swx = sum(N, [&](std::size_t i) { return w[i] * x[i]; });
    for (int step = -10; step <= 10; ++step) {
        const float inverse = (levels + 0.1f * static_cast<float>(step)) / (high - low);
        for (std::size_t i = 0; i < N; ++i) q[i] = nearest((x[i] - low) * inverse, levels);
        const float swq = sum(N, [&](std::size_t i) { return w[i] * q[i]; }),
                    swqq = sum(N, [&](std::size_t i) { return w[i] * q[i] * q[i]; }),
                    swqx = sum(N, [&](std::size_t i) { return w[i] * q[i] * x[i]; });
        const float determinant = sw * swqq - swq * swq;
        if (!(determinant > 0)) continue;
        Range r{(sw * swqx - swq * swx) / determinant, (swq * swqx - swqq * swx) / determinant};
        if (r.minimum < 0) r = {swqx / swqq, 0};
        if (!(r.scale > 0)) continue;
        const float error = r.error<N>(x, w, levels, q);
        if (error < least) least = error, best = r;
    }
    return best;
}

// x = scale q for -half <= q < half: the scale whose least squares explain most of x. Sets q + half.
template <std::size_t N>
float fit_scale(const float* x, float half) {
    float largest = 0;
    for (std::size_t i = 0; i < N; ++i)
        if (std::abs(x[i]) > std::abs(largest)) largest = x[i];
    if (inverse_of(largest) == 0) return 0;
    float best = 0, most = 0;
    for (int step = -9; step <= 9; ++step) {
        const float inverse = -(half + 0.1f * static_cast<float>(step)) / largest;
        float q[N];
        for (std::size_t i = 0; i < N; ++i) q[i] = nearest(x[i] * inverse + half, 2 * half - 1) - half;
        // in units of the largest number, so that no square leaves float32's range
        const float unit = 1 / largest;
        const auto weight = [&](std::size_t i) { return (x[i] * unit) * (x[i] * unit); };
        const float wqx = sum(N, [&](std::size_t i) { return weight(i) * q[i] * (x[i] * unit); }),
                    wqq = sum(N, [&](std::size_t i) { return weight(i) * q[i] * q[i]; });
        if (!(wqq > 0) || wqx * wqx <= most * wqq) continue;
        most = wqx * wqx / wqq, best = wqx / wqq * largest;
    }
    return best;
}

// 4 low bits of 32 quants, number i low and number i + 16 high, and their fifth bits.
void put_legacy(const float* q, std::byte* fifth, std::byte* low) {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < 32; ++i) bits |= (static_cast<unsigned>(q[i]) >> 4) << i;
    std::memcpy(fifth, &bits, sizeof bits);
    for (unsigned i = 0; i < 16; ++i)
        low[i] = static_cast<std::byte>((static_cast<unsigned>(q[i]) & 15) | static_cast<unsigned>(q[i + 16]) << 4);
}

// Eight ranges of 32 numbers, whose scales and minima are multiples, up to 63, of two float16 numbers.
template <bool kFive>
void round_q4_or_5_k(const float* x, std::byte* b) {
    constexpr std::size_t kRanges = 8, kNumbers = kSuper / kRanges;
    constexpr float kLevels = kFive ? 31 : 15, kMost = 63;
    std::array<std::array<float, kNumbers>, kRanges> w;
    std::array<Range, kRanges> ranges;
    Range largest;
    for (std::size_t j = 0; j < kRanges; ++j) {
        w[j] = weights_with_minimum<kNumbers>(x + j * kNumbers);
        ranges[j] = fit_range<kNumbers>(x + j * kNumbers, w[j].data(), kLevels);
        largest.scale = std::max(largest.scale, ranges[j].scale);
        largest.minimum = std::max(largest.minimum, ranges[j].minimum);
    }
    const Range unit{as_half(largest.scale / kMost), as_half(largest.minimum / kMost)};
    std::memset(b, 0, 16 + (kFive ? kSuper / 8 : 0) + kSuper / 2);
    put_half(unit.scale, b);
    put_half(unit.minimum, b + 2);
    std::byte *const scales = b + 4, *const fifth = b + 16, *const quants = fifth + (kFive ? kSuper / 8 : 0);
    for (std::size_t j = 0; j < kRanges; ++j) {
        const float s0 = nearest(ranges[j].scale * inverse_of(unit.scale), kMost),
                    m0 = nearest(ranges[j].minimum * inverse_of(unit.minimum), kMost);
        float q[kNumbers], best_q[kNumbers] = {}, least = -1;
        unsigned scale = 0, minimum = 0;
        for (const float ds : {0.0f, -1.0f, 1.0f}) {  // rounding both apart is not always best
            for (const float dm : {0.0f, -1.0f, 1.0f}) {
                const float s = s0 + ds, m = m0 + dm;
                if (std::min(s, m) < 0 || std::max(s, m) > kMost) continue;
                const Range r{unit.scale * s, unit.minimum * m};
                const float error = r.error<kNumbers>(x + j * kNumbers, w[j].data(), kLevels, q);
                if (least >= 0 && error >= least) continue;
                least = error, scale = static_cast<unsigned>(s), minimum = static_cast<unsigned>(m);
                std::copy_n(q, kNumbers, best_q);
            }
        }
        const auto put = [&](std::size_t i, unsigned bits) { scales[i] |= static_cast<std::byte>(bits); };
        if (j < 4) {
            put(j, scale), put(j + 4, minimum);
        } else {
            put(j + 4, (scale & 15) | (minimum & 15) << 4);
            put(j - 4, scale >> 4 << 6), put(j, minimum >> 4 << 6);
        }
        for (std::size_t i = 0; i < kNumbers; ++i) {
            const auto quant = static_cast<unsigned>(best_q[i]);
            quants[j / 2 * 32 + i] |= static_cast<std::byte>((quant & 15) << j % 2 * 4);
            if (kFive) fifth[i] |= static_cast<std::byte>(quant >> 4 << j);
        }
    }
}

}  // namespace

void round_q8_0(const float* x, std::byte* b) {
    std::int8_t q[kQ8Block];
    const std::uint16_t d = f32_to_f16(round_to_q8(x, q));
    std::memcpy(b, &d, sizeof d);
    std::memcpy(b + sizeof d, q, sizeof q);
}

// d q - 8 d, 0 <= q < 16, with the number that is largest by its size as -8 d; two halves of 16 share 16 bytes.
void round_q4_0(const float* x, std::byte* b) {
    float largest = 0;
    for (std::size_t i = 0; i < kQ8Block; ++i)
        if (std::abs(x[i]) > std::abs(largest)) largest = x[i];
    const float d = largest / -8, inverse = inverse_of(d);
    put_half(d, b);
    const auto quantized = [&](float v) { return std::min(15u, static_cast<unsigned>(v * inverse + 8.5f)); };
    for (std::size_t i = 0; i < kQ8Block / 2; ++i)
        b[2 + i] = static_cast<std::byte>(quantized(x[i]) | quantized(x[i + kQ8Block / 2]) << 4);
}

void round_q5_0(const float* x, std::byte* b) {
    const float d = as_half(fit_scale<32>(x, 16)), inverse = inverse_of(d);
    float q[32];
    for (std::size_t i = 0; i < 32; ++i) q[i] = nearest(x[i] * inverse + 16, 31);
    put_half(d, b);
    put_legacy(q, b + 2, b + 6);
}

void round_q5_1(const float* x, std::byte* b) {
    const std::array<float, 32> w = weights_with_minimum<32>(x);
    Range r = fit_range<32>(x, w.data(), 31);
    r = {as_half(r.scale), as_half(r.minimum)};
    float q[32];
    r.error<32>(x, w.data(), 31, q);
    put_half(r.scale, b);
    put_half(-r.minimum, b + 2);
    put_legacy(q, b + 4, b + 8);
}

void round_q4_k(const float* x, std::byte* b) { round_q4_or_5_k<false>(x, b); }
void round_q5_k(const float* x, std::byte* b) { round_q4_or_5_k<true>(x, b); }

// 16 groups of 16 numbers, whose scales are multiples, from -128 to 127, of a float16 number.
void round_q6_k(const float* x, std::byte* b) {
    constexpr std::size_t kGroups = 16, kNumbers = kSuper / kGroups;
    std::array<float, kGroups> scales;
    float largest = 0;
    for (std::size_t j = 0; j < kGroups; ++j) {
        scales[j] = fit_scale<kNumbers>(x + j * kNumbers, 32);
        if (std::abs(scales[j]) > std::abs(largest)) largest = scales[j];
    }
    const float unit = as_half(largest / -128), inverse = inverse_of(unit);
    std::memset(b, 0, 210);
    put_half(unit, b + 208);
    for (std::size_t j = 0; j < kGroups; ++j) {
        const float scale = nearest(scales[j] * inverse + 128, 255) - 128, of_quant = inverse_of(unit * scale);
        b[192 + j] = static_cast<std::byte>(static_cast<std::int8_t>(scale));
        for (std::size_t k = 0; k < kNumbers; ++k) {
            const std::size_t i = j * kNumbers + k, part = i / 128, at = i % 128;  // as widen_q6_k has them
            const auto q = static_cast<unsigned>(nearest(x[i] * of_quant + 32, 63));
            b[part * 64 + at % 64] |= static_cast<std::byte>((q & 15) << at / 64 * 4);
            b[128 + part * 32 + at % 32] |= static_cast<std::byte>(q >> 4 << at / 32 * 2);
        }
    }
}

}  // namespace inkling
