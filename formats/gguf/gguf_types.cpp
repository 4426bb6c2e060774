// Blocks are widened as llama.cpp does it (ggml-quants.c, dequantize_row_*). Products of a scale and a quant are exact
// in float32, so that the results do not depend on the order of operations.
#include "formats/gguf/gguf_types.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "engine/base/half.h"
#include "engine/base/q8_block.h"

namespace inkling::formats {
namespace {

unsigned u8(const std::byte* p) { return std::to_integer<unsigned>(*p); }
float signed_byte(const std::byte* p) { return static_cast<float>(static_cast<std::int8_t>(u8(p))); }

float half_at(const std::byte* p) { return f16_to_f32(static_cast<std::uint16_t>(u8(p) | u8(p + 1) << 8)); }

float number(unsigned quant, int offset) { return static_cast<float>(static_cast<int>(quant) - offset); }

void widen_q8_0(const std::byte* b, float* y) {
    const float d = half_at(b);
    for (std::size_t i = 0; i < 32; ++i) y[i] = d * signed_byte(b + 2 + i);
}

// Q4_0, Q4_1, Q5_0, Q5_1: a scale, a minimum where kMinimum, the fifth bits where kFive, then 16 bytes that hold number
// i low and number i + 16 high.
template <bool kMinimum, bool kFive>
void widen_legacy(const std::byte* b, float* y) {
    const float d = half_at(b), m = half_at(b + 2);
    const std::byte* const fifth = b + (kMinimum ? 4 : 2);
    const std::byte* const quants = fifth + (kFive ? 4 : 0);
    constexpr int kOffset = kMinimum ? 0 : kFive ? 16 : 8;
    for (unsigned half = 0; half < 2; ++half) {
        const unsigned bits = kFive ? u8(fifth + 2 * half) | u8(fifth + 2 * half + 1) << 8 : 0;
        for (unsigned i = 0; i < 16; ++i) {
            const unsigned q = (u8(quants + i) >> 4 * half & 15) | (bits >> i & 1) << 4;
            *y++ = kMinimum ? d * number(q, kOffset) + m : d * number(q, kOffset);
        }
    }
}

// The scale and minimum of sub-block j of 8, 6 bits each, in the 12 bytes of Q4_K and Q5_K.
struct ScaleMin {
    float scale, minimum;
    ScaleMin(const std::byte* s, unsigned j) {
        const unsigned low = j < 4 ? u8(s + j) & 63 : (u8(s + j + 4) & 15) | u8(s + j - 4) >> 6 << 4;
        const unsigned high = j < 4 ? u8(s + j + 4) & 63 : u8(s + j + 4) >> 4 | u8(s + j) >> 6 << 4;
        scale = static_cast<float>(low), minimum = static_cast<float>(high);
    }
};

// 256 numbers: d, dmin, 12 bytes of scales, the fifth bits where kFive, 4 bits each.
template <bool kFive>
void widen_q4_k(const std::byte* b, float* y) {
    const float d = half_at(b), dmin = half_at(b + 2);
    const std::byte* const fifth = b + 16;
    const std::byte* const quants = fifth + (kFive ? 32 : 0);
    for (unsigned j = 0; j < 8; ++j) {
        const ScaleMin s(b + 4, j);
        const float scale = d * s.scale, minimum = dmin * s.minimum;
        for (unsigned i = 0; i < 32; ++i) {
            unsigned q = u8(quants + j / 2 * 32 + i) >> j % 2 * 4 & 15;
            if (kFive) q |= (u8(fifth + i) >> j & 1) << 4;
            *y++ = scale * number(q, 0) - minimum;
        }
    }
}

// 256 numbers: 16 bytes of a 4-bit scale and minimum for 16 numbers each, 2 bits each, d, dmin.
void widen_q2_k(const std::byte* b, float* y) {
    const std::byte* const quants = b + 16;
    const float d = half_at(b + 80), dmin = half_at(b + 82);
    for (unsigned j = 0; j < 16; ++j) {
        const float scale = d * number(u8(b + j) & 15, 0), minimum = dmin * number(u8(b + j) >> 4, 0);
        for (unsigned i = 0; i < 16; ++i)
            *y++ = scale * number(u8(quants + j / 8 * 32 + j % 2 * 16 + i) >> j % 8 / 2 * 2 & 3, 0) - minimum;
    }
}

// 256 numbers: 32 bytes of third bits, 2 bits each, 12 bytes of 6-bit scales for 16 numbers each, d.
void widen_q3_k(const std::byte* b, float* y) {
    const std::byte *const third = b, *const quants = b + 32, *const scales = b + 96;
    const float d = half_at(b + 108);
    for (unsigned j = 0; j < 16; ++j) {
        const unsigned low = u8(scales + j % 8) >> j / 8 * 4 & 15, high = u8(scales + 8 + j % 4) >> j / 4 * 2 & 3;
        const float scale = d * number(low | high << 4, 32);
        for (unsigned i = 0; i < 16; ++i) {
            const unsigned place = j % 2 * 16 + i;
            const unsigned q = u8(quants + j / 8 * 32 + place) >> j % 8 / 2 * 2 & 3;
            *y++ = scale * number(q | (u8(third + place) >> j / 2 & 1) << 2, 4);
        }
    }
}

// 256 numbers: 4 low bits each, 2 high bits each, 16 int8 scales for 16 numbers each, d.
void widen_q6_k(const std::byte* b, float* y) {
    const std::byte* const scales = b + 192;
    const float d = half_at(b + 208);
    for (unsigned i = 0; i < 256; ++i) {
        const unsigned part = i / 128, k = i % 128;  // of each half, quarters of 32
        const unsigned low = u8(b + part * 64 + k % 64) >> k / 64 * 4 & 15,
                       high = u8(b + 128 + part * 32 + k % 32) >> k / 32 * 2 & 3;
        y[i] = d * signed_byte(scales + i / 16) * number(low | high << 4, 32);
    }
}

// The 16 values of IQ4_NL and IQ4_XS.
float curved(unsigned q) {
    constexpr float kValues[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    return kValues[q & 15];
}

void widen_iq4_nl(const std::byte* b, float* y) {
    const float d = half_at(b);
    for (unsigned i = 0; i < 32; ++i) y[i] = d * curved(u8(b + 2 + i % 16) >> (i < 16 ? 0 : 4));
}

// 256 numbers: d, 8 scales of 6 bits (two high bits each, then four low ones), 4 bits each.
void widen_iq4_xs(const std::byte* b, float* y) {
    const float d = half_at(b);
    for (unsigned j = 0; j < 8; ++j) {
        const unsigned low = u8(b + 4 + j / 2) >> j % 2 * 4 & 15, high = u8(b + 2 + j / 4) >> j % 4 * 2 & 3;
        const float scale = d * number(low | high << 4, 32);
        const std::byte* const quants = b + 8 + j * 16;
        for (unsigned i = 0; i < 32; ++i) *y++ = scale * curved(u8(quants + i % 16) >> (i < 16 ? 0 : 4));
    }
}

void round_q8_0(const float* x, std::byte* b) {
    std::int8_t q[kQ8Block];
    const std::uint16_t d = round_to_q8(x, q);
    std::memcpy(b, &d, sizeof d);
    std::memcpy(b + sizeof d, q, sizeof q);
}

// d q - 8 d, 0 <= q < 16, with the number that is largest by its size as -8 d; two halves of 16 share 16 bytes.
void round_q4_0(const float* x, std::byte* b) {
    float largest = 0;
    for (std::size_t i = 0; i < kQ8Block; ++i)
        if (std::abs(x[i]) > std::abs(largest)) largest = x[i];
    const float d = largest / -8, inverse = std::isfinite(1 / d) ? 1 / d : 0;
    const std::uint16_t stored = f32_to_f16(d);
    std::memcpy(b, &stored, sizeof stored);
    const auto quantized = [&](float v) { return std::min(15u, static_cast<unsigned>(v * inverse + 8.5f)); };
    for (std::size_t i = 0; i < kQ8Block / 2; ++i)
        b[sizeof stored + i] = static_cast<std::byte>(quantized(x[i]) | quantized(x[i + kQ8Block / 2]) << 4);
}

// `largest`: the largest quant, by its size, where blocks are written.
template <auto kWiden, std::uint64_t kBlock, std::uint64_t kBytes, auto kRound = nullptr>
constexpr NumberLayout blocks(const char* name, float largest = 0) {
    NumberLayout layout{name, kBlock, kBytes, [](const std::byte* b, std::size_t n, float* y) {
                            for (; n > 0; --n, b += kBytes, y += kBlock) kWiden(b, y);
                        }};
    if constexpr (kRound != nullptr) {
        layout.round = [](const float* x, std::size_t n, std::byte* b) {
            for (; n > 0; --n, x += kBlock, b += kBytes) kRound(x, b);
        };
        layout.limit = kFloat16.limit * largest;
    }
    return layout;
}

constexpr std::pair<GgufType, NumberLayout> kLayouts[] = {
    {GgufType::F32, kFloat32},
    {GgufType::F16, kFloat16},
    {GgufType::Q4_0, blocks<widen_legacy<false, false>, 32, 18, round_q4_0>("Q4_0", 8)},
    {GgufType::Q4_1, blocks<widen_legacy<true, false>, 32, 20>("Q4_1")},
    {GgufType::Q5_0, blocks<widen_legacy<false, true>, 32, 22>("Q5_0")},
    {GgufType::Q5_1, blocks<widen_legacy<true, true>, 32, 24>("Q5_1")},
    {GgufType::Q8_0, blocks<widen_q8_0, 32, 34, round_q8_0>("Q8_0", 127)},
    {GgufType::Q2_K, blocks<widen_q2_k, 256, 84>("Q2_K")},
    {GgufType::Q3_K, blocks<widen_q3_k, 256, 110>("Q3_K")},
    {GgufType::Q4_K, blocks<widen_q4_k<false>, 256, 144>("Q4_K")},
    {GgufType::Q5_K, blocks<widen_q4_k<true>, 256, 176>("Q5_K")},
    {GgufType::Q6_K, blocks<widen_q6_k, 256, 210>("Q6_K")},
    {GgufType::IQ4_NL, blocks<widen_iq4_nl, 32, 18>("IQ4_NL")},
    {GgufType::IQ4_XS, blocks<widen_iq4_xs, 256, 136>("IQ4_XS")},
    {GgufType::BF16, kBFloat16},
    {GgufType{9}, {"Q8_1", 32, 36}},
    {GgufType{15}, {"Q8_K", 256, 292}},
    {GgufType{16}, {"IQ2_XXS", 256, 66}},
    {GgufType{17}, {"IQ2_XS", 256, 74}},
    {GgufType{18}, {"IQ3_XXS", 256, 98}},
    {GgufType{19}, {"IQ1_S", 256, 50}},
    {GgufType{21}, {"IQ3_S", 256, 110}},
    {GgufType{22}, {"IQ2_S", 256, 82}},
    {GgufType{24}, {"I8", 1, 1}},
    {GgufType{25}, {"I16", 1, 2}},
    {GgufType{26}, {"I32", 1, 4}},
    {GgufType{27}, {"I64", 1, 8}},
    {GgufType{28}, {"F64", 1, 8}},
    {GgufType{29}, {"IQ1_M", 256, 56}},
    {GgufType{34}, {"TQ1_0", 256, 54}},
    {GgufType{35}, {"TQ2_0", 256, 66}},
    {GgufType{39}, {"MXFP4", 32, 17}},
};

}  // namespace

const NumberLayout* gguf_layout(GgufType type) {
    const auto* const found = std::ranges::find(kLayouts, type, &std::pair<GgufType, NumberLayout>::first);
    return found == std::end(kLayouts) ? nullptr : &found->second;
}

}  // namespace inkling::formats
