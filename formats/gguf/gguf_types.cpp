// The types that are multiplied as they are stand in engine/kernels/block_types.h; the others are only widened, in the
// same way.
#include "formats/gguf/gguf_types.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/kernels/block_types.h"

namespace inkling::formats {
namespace {

using block_bytes::half_at, block_bytes::number, block_bytes::u8;

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

template <auto kWiden, std::uint64_t kBlock, std::uint64_t kBytes>
constexpr NumberLayout blocks(const char* name) {
    return {name, kBlock, kBytes, [](const std::byte* b, std::size_t n, float* y) {
                for (; n > 0; --n, b += kBytes, y += kBlock) kWiden(b, y);
            }};
}

NumberLayout engine_type(const char* name) {
    const BlockType& type = *block_type(name);
    return {type.name, type.numbers, type.bytes, type.widen, type.round, kFloat16.limit * type.largest};
}

const std::pair<GgufType, NumberLayout> kLayouts[] = {
    {GgufType::F32, kFloat32},
    {GgufType::F16, kFloat16},
    {GgufType::Q4_0, engine_type("Q4_0")},
    {GgufType::Q4_1, engine_type("Q4_1")},
    {GgufType::Q5_0, engine_type("Q5_0")},
    {GgufType::Q5_1, engine_type("Q5_1")},
    {GgufType::Q8_0, engine_type("Q8_0")},
    {GgufType::Q2_K, blocks<widen_q2_k, 256, 84>("Q2_K")},
    {GgufType::Q3_K, blocks<widen_q3_k, 256, 110>("Q3_K")},
    {GgufType::Q4_K, engine_type("Q4_K")},
    {GgufType::Q5_K, engine_type("Q5_K")},
    {GgufType::Q6_K, engine_type("Q6_K")},
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
