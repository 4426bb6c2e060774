// Quantized weights in blocks: numbers that share scales, as GGUF files hold them. One table has all types that are
// used as they are: how a block is laid out, widened, rounded and multiplied (block_products.h). Widening is that of
// llama.cpp (ggml-quants.c, dequantize_row_*), exact and in any order, because products of a scale and a quant are
// exact in float32.
//   const BlockType& t = *block_type("Q4_K");   // null for other names
//   t.widen(blocks, n, numbers);
// In memory, 16 rows of a matrix are a group, with each field of their blocks interleaved, so that the lanes of a
// vector are rows: [field][block][unit][row]. A group has as many bytes as its rows in a file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/half.h"

namespace inkling {
namespace row_group {

inline constexpr std::size_t kRows = 16;

// A field of a block, in units of `size` bytes. Units of two bytes are float16 scales.
struct BlockField {
    std::size_t offset = 0, size = 0, count = 0;
    constexpr std::size_t group_bytes() const { return kRows * size * count; }
};
using BlockFields = std::array<BlockField, 5>;
constexpr std::size_t block_bytes(const BlockFields& fields) {
    std::size_t bytes = 0;
    for (const BlockField& f : fields) bytes += f.size * f.count;
    return bytes;
}

// y (N, 16) = or += the product of a group with N vectors, only for the numbers [32 first, 32 last) of its rows.
struct GroupProduct {
    const std::byte* group;
    std::size_t blocks;  // in a row
    std::size_t first, last;
    const void* x;  // RoundedBlock<N>, from `first` on
    float* y;
    bool accumulate;
};

struct BlockKernel {
    int offset;                           // for round_vectors
    std::size_t most;                     // vectors at a time: a power of two
    void (*run[4])(const GroupProduct&);  // with 1, 2, 4 and 8 vectors
};

}  // namespace row_group

struct BlockType {
    std::string_view name;       // GGUF's
    std::size_t numbers, bytes;  // of a block
    void (*widen)(const std::byte* blocks, std::size_t n, float* out);
    row_group::BlockFields fields;
    row_group::BlockKernel kernel;                                              // for any CPU of the library
    row_group::BlockKernel vnni;                                                // for CPUs with VNNI
    void (*round)(const float* x, std::size_t n, std::byte* blocks) = nullptr;  // n blocks, to nearest
    float largest = 0;  // what a block can hold at least, in units of its float16 scale, if it is written

    const row_group::BlockKernel& best() const;  // for this CPU
    std::size_t row_bytes(std::size_t columns) const { return columns / numbers * bytes; }
    // Moves `count` rows into a group, whose others become zeros; returns whether all scales are finite. unpack moves
    // rows [first, first + count) back, one behind the other.
    bool pack(const std::byte* const* rows, std::size_t count, std::size_t blocks, std::byte* group) const;
    void unpack(const std::byte* group, std::size_t blocks, std::size_t first, std::size_t count, std::byte* out) const;
};

const BlockType* block_type(std::string_view name);

// The fields of a block that widening reads.
namespace block_bytes {

inline unsigned u8(const std::byte* p) { return std::to_integer<unsigned>(*p); }
inline float half_at(const std::byte* p) { return f16_to_f32(static_cast<std::uint16_t>(u8(p) | u8(p + 1) << 8)); }
inline float number(unsigned quant, int offset) { return static_cast<float>(static_cast<int>(quant) - offset); }

}  // namespace block_bytes

}  // namespace inkling
