// Matrix products C = op(A) op(B) over strided arrays: a transposed operand is a permuted view, so nothing is copied.
// The same bits with any number of threads.
#pragma once

#include "engine/array/bfloat16.h"

namespace inkling {

struct GemmOptions {
    bool accumulate = false;  // C += A B
    bool round = false;       // float operands are rounded to bfloat16 as they are packed
};

// a (..., M, K), b (..., K, N), c (..., M, N); the axes in front broadcast to c's. `bias` (N), or an undefined array,
// is added to every row. For a float result each of a and b may be bfloat16, and the other is rounded then.
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

// The plain loop, K innermost in order: the oracle of the tests. Nothing is rounded.
void gemm_plain(const ConstArray<double>& a, const ConstArray<double>& b, Array<double>& c, GemmOptions options = {},
                const ConstArray<double>& bias = {});
void gemm_plain(const ConstArray<float>& a, const ConstArray<float>& b, Array<float>& c, GemmOptions options = {},
                const ConstArray<float>& bias = {});
void gemm_plain(const ConstArray<BFloat16>& a, const ConstArray<BFloat16>& b, Array<float>& c, GemmOptions options = {},
                const ConstArray<float>& bias = {});

}  // namespace inkling
