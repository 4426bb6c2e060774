// Matrix products C = op(A) op(B) over strided arrays: a transposed operand is a permuted view, so nothing is copied.
// The same bits with any number of threads.
#pragma once

#include "engine/bfloat16.h"

namespace inkling {

struct GemmOptions {
    bool accumulate = false;  // C += A B
    bool round = false;       // float operands are rounded to bfloat16 on their way into the product
};

// a (..., M, K), b (..., K, N), c (..., M, N); the axes in front broadcast to c's. `bias` (N), or an undefined array,
// is added to every row. a and b are of type T; for a float result each may be bfloat16, and the other is rounded then.
template <class A, class B, class T>
void gemm(const Array<A>& a, const Array<B>& b, Array<T>& c, GemmOptions options = {}, const Array<T>& bias = {});

// The plain loop, K innermost in order: the oracle of the tests. Nothing is rounded.
template <class In, class T>
void gemm_plain(const Array<In>& a, const Array<In>& b, Array<T>& c, GemmOptions options = {},
                const Array<T>& bias = {});

}  // namespace inkling
