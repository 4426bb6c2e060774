// Rounds float32 numbers to one block of a quantized type of GGUF, as block_types.cpp widens it. Q4_0 takes the largest
// number as its last quant; the others search for the scales, and minima, whose squared errors are least.
//   round_q4_k(weights, block);   // 256 numbers, 144 bytes
#pragma once

#include <cstddef>

namespace inkling {

void round_q8_0(const float* x, std::byte* block);  // 32 numbers
void round_q4_0(const float* x, std::byte* block);
void round_q5_0(const float* x, std::byte* block);
void round_q5_1(const float* x, std::byte* block);
void round_q4_k(const float* x, std::byte* block);  // 256 numbers
void round_q5_k(const float* x, std::byte* block);
void round_q6_k(const float* x, std::byte* block);

}  // namespace inkling
