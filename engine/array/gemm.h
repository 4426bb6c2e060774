// Matrix products C = op(A) op(B) over strided arrays. A transposed operand is a permuted view, so nothing is copied.
// Any number of threads gives the same bits.
#pragma once

#include "engine/array/bfloat16.h"

namespace inkling {

struct GemmOptions {
    bool accumulate = false;  // C += A B
    bool round = false;       // packing rounds float operands to bfloat16
};

// a (..., M, K), b (..., K, N), c (..., M, N); the leading axes broadcast to c's. Adds `bias` (N) to every row, if it
// is defined. For a float result, a and b may be bfloat16; if only one is, the other is rounded.
void gemm(const ConstArray<double>& a, const ConstArray<double>& b, Array<double>& c, GemmOptions options = {},
          const ConstArray<double>& bias = {});
void gemm(const ConstArray<float>& a, const ConstArray<float>& b, Array<float>& c, GemmOptions options = {},
          const ConstArray<float>& bias = {});
void gemm(const ConstArray<float>& a, const ConstArray<BFloat16>& b, Array<float>& c, GemmOptions options = {},
          const ConstArray<float>& bias = {});
void gemm(const ConstArray<BFloat16>& a, const ConstArray<float>& b, Array<float>& c, GemmOptions options = {},
          const ConstArray<float>& bias = {});
void gemm(const ConstArray<BFloat16>& a, const ConstArray<BFloat16>& b, Array<float>& c, GemmOptions options = {},
          const ConstArray<float>& bias = {});

}  // namespace inkling
