// Matrix products C = op(A) op(B) over strided arrays: a transposed operand is a permuted view, so nothing is copied.
// float goes through oneDNN; double, and products too small to be worth a call, through the plain loop, which is also
// the oracle of the tests. The same bits with any number of threads.
#pragma once

#include "engine/array.h"

namespace inkling {

struct GemmOptions {
    bool accumulate = false;  // C += A B
};

// a (..., M, K), b (..., K, N), c (..., M, N); the axes in front broadcast to c's. `bias` (N), or an undefined array,
// is added to every row.
template <class T>
void gemm(const Array<T>& a, const Array<T>& b, Array<T>& c, GemmOptions options = {}, const Array<T>& bias = {});

// The plain loop, K innermost in order.
template <class T>
void gemm_plain(const Array<T>& a, const Array<T>& b, Array<T>& c, GemmOptions options = {}, const Array<T>& bias = {});

}  // namespace inkling
