// Matrix products C = op(A) op(B) over strided arrays: a transposed operand is a permuted view, so nothing is copied.
// float goes through oneDNN, or through register tiles when a call would cost more than the work; double through the
// plain loop, which is also the oracle of the tests. The same bits with any number of threads.
#pragma once

#include "engine/bfloat16.h"

namespace inkling {

struct GemmOptions {
    bool accumulate = false;  // C += A B
};

// a (..., M, K), b (..., K, N), c (..., M, N); the axes in front broadcast to c's. `bias` (N), or an undefined array,
// is added to every row. a and b are of type T, or bfloat16 for a float result, which is summed in float.
template <class In, class T>
void gemm(const Array<In>& a, const Array<In>& b, Array<T>& c, GemmOptions options = {}, const Array<T>& bias = {});

// The plain loop, K innermost in order.
template <class In, class T>
void gemm_plain(const Array<In>& a, const Array<In>& b, Array<T>& c, GemmOptions options = {},
                const Array<T>& bias = {});

}  // namespace inkling
