// Matrix products of tensors.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// a (..., M, K), b (..., K, N) -> (..., M, N); the leading axes broadcast. A vector (K) is a row as a, a column as b,
// and the result lacks its axis. A transposed operand, transpose(b, -2, -1), is not copied.
template <class T>
Tensor<T> matmul(const Tensor<T>& a, const Tensor<T>& b);

}  // namespace inkling
