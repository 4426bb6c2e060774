#include "engine/kernels/block_types.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "engine/base/cpu.h"
#include "engine/kernels/block_products.h"
#include "engine/kernels/block_rounding.h"

namespace inkling {
namespace {

using block_bytes::half_at, block_bytes::number, block_bytes::u8;

float signed_byte(const std::byte* p) { return static_cast<float>(static_cast<std::int8_t>(u8(p))); }

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
    std::uint32_t bits = 0;
    if (kFive) std::memcpy(&bits, fifth, sizeof bits);
    const auto widened = [&](unsigned q) { return kMinimum ? d * number(q, kOffset) + m : d * number(q, kOffset); };
    for (unsigned i = 0; i < 16; ++i) y[i] = widened((u8(quants + i) & 15) | (bits >> i & 1) << 4);
    for (unsigned i = 0; i < 16; ++i) y[16 + i] = widened(u8(quants + i) >> 4 | (bits >> (16 + i) & 1) << 4);
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
            y[j * 32 + i] = scale * number(q, 0) - minimum;
        }
    }
}

// 256 numbers: 4 low bits each, 2 high bits each, 16 int8 scales for 16 numbers each, d.
void widen_q6_k(const std::byte* b, float* y) {
    const float d = half_at(b + 208);
    for (unsigned j = 0; j < 16; ++j, y += 16) {
        const unsigned part = j / 8, quarter = j / 2 % 4, first = j % 2 * 16;  // of each half, quarters of 32
        const std::byte* const low = b + part * 64 + quarter % 2 * 32 + first;
        const std::byte* const high = b + 128 + part * 32 + first;
        const float scale = d * signed_byte(b + 192 + j);
        for (unsigned i = 0; i < 16; ++i)
            y[i] = scale * number((u8(low + i) >> quarter / 2 * 4 & 15) | (u8(high + i) >> quarter * 2 & 3) << 4, 32);
    }
}

#if defined(__AVX512F__) && defined(__AVX512BW__)
using Plain = row_group::Avx512Lanes<false>;
using Vnni = row_group::Avx512Lanes<true>;
#elif defined(__AVX2__)
using Plain = row_group::Avx2Lanes;
using Vnni = Plain;
#else
using Plain = row_group::PortableLanes;
using Vnni = Plain;
#endif

template <auto kWiden, class Product, std::size_t kBytes, auto kRound = nullptr>
constexpr BlockType entry(std::string_view name, float largest = 0) {
    constexpr std::size_t kNumbers = Product::numbers;
    BlockType type{name,
                   kNumbers,
                   kBytes,
                   [](const std::byte* b, std::size_t n, float* y) {
                       for (; n > 0; --n, b += kBytes, y += kNumbers) kWiden(b, y);
                   },
                   Product::fields,
                   row_group::block_kernel<Plain, Product>(),
                   row_group::block_kernel<Vnni, Product>()};
    type.largest = largest;
    if constexpr (!std::is_null_pointer_v<decltype(kRound)>)
        type.round = [](const float* x, std::size_t n, std::byte* b) {
            for (; n > 0; --n, x += kNumbers, b += kBytes) kRound(x, b);
        };
    return type;
}

using row_group::KProduct, row_group::LegacyProduct, row_group::Q6KProduct, row_group::Q8Product;

constexpr BlockType kTypes[] = {
    entry<widen_legacy<false, false>, LegacyProduct<false, false>, 18, round_q4_0>("Q4_0", 8),
    entry<widen_legacy<true, false>, LegacyProduct<true, false>, 20>("Q4_1"),
    entry<widen_legacy<false, true>, LegacyProduct<false, true>, 22, round_q5_0>("Q5_0", 14),
    entry<widen_legacy<true, true>, LegacyProduct<true, true>, 24, round_q5_1>("Q5_1", 1),
    entry<widen_q8_0, Q8Product, 34, round_q8_0>("Q8_0", 127),
    entry<widen_q4_k<false>, KProduct<false>, 144, round_q4_k>("Q4_K", 63),
    entry<widen_q4_k<true>, KProduct<true>, 176, round_q5_k>("Q5_K", 63),
    entry<widen_q6_k, Q6KProduct, 210, round_q6_k>("Q6_K", 32),
};

}  // namespace

const BlockType* block_type(std::string_view name) {
    const auto* const found = std::ranges::find(kTypes, name, &BlockType::name);
    return found == std::end(kTypes) ? nullptr : found;
}

const row_group::BlockKernel& BlockType::best() const { return has_vnni() ? vnni : kernel; }

// Calls move(unit, place in a row of blocks, place of row 0's in the group) for each unit.
template <class Move>
static void each_unit(const BlockType& type, std::size_t blocks, const Move& move) {
    std::size_t at = 0;
    for (const auto& f : type.fields) {
        const auto all = [&]<class Unit>(Unit unit) {
            for (std::size_t block = 0; block < blocks; ++block)
                for (std::size_t i = 0; i < f.count; ++i, at += row_group::kRows * sizeof unit)
                    move(unit, block * type.bytes + f.offset + i * sizeof unit, at);
        };
        f.size == 2 ? all(std::uint16_t{}) : all(std::uint32_t{});
    }
}

bool BlockType::pack(const std::byte* const* rows, std::size_t count, std::size_t blocks, std::byte* group) const {
    constexpr std::uint16_t kInfinite = 0x7C00;  // the exponent of infinities and NaN
    bool finite = true;
    each_unit(*this, blocks, [&]<class Unit>(Unit, std::size_t in_row, std::size_t in_group) {
        Unit units[row_group::kRows] = {};
        for (std::size_t r = 0; r < count; ++r) {
            std::memcpy(&units[r], rows[r] + in_row, sizeof(Unit));
            if constexpr (sizeof(Unit) == 2) finite = finite && (units[r] & kInfinite) != kInfinite;
        }
        std::memcpy(group + in_group, units, sizeof units);
    });
    return finite;
}

void BlockType::unpack(const std::byte* group, std::size_t blocks, std::size_t first, std::size_t count,
                       std::byte* out) const {
    const std::size_t row = blocks * bytes;
    each_unit(*this, blocks, [&]<class Unit>(Unit, std::size_t in_row, std::size_t in_group) {
        const std::byte* from = group + in_group + first * sizeof(Unit);
        std::byte* to = out + in_row;
        for (std::size_t r = 0; r < count; ++r, from += sizeof(Unit), to += row) std::memcpy(to, from, sizeof(Unit));
    });
}

}  // namespace inkling
