// The number types of GGUF: how many numbers share a block, and the bytes of a block.
//   gguf_layout(GgufType::Q8_0)->bytes   // 34, for 32 numbers
// Source: https://github.com/ggml-org/ggml, include/ggml.h and src/ggml-common.h.
#pragma once

#include <cstdint>

#include "formats/tensor_file.h"

namespace inkling::formats {

// The numbers are the format's own. Files may hold others.
enum class GgufType : std::uint32_t {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,  // 32 numbers as a float16 d and 32 int8 q: d q, d = max |x| / 127
    Q2_K = 10,
    Q3_K = 11,
    Q4_K = 12,
    Q5_K = 13,
    Q6_K = 14,
    IQ4_NL = 20,
    IQ4_XS = 23,
    BF16 = 30,
};

const NumberLayout* gguf_layout(GgufType type);  // null for an unknown type

}  // namespace inkling::formats
