// Softmax and its logarithm.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// e^x_i / sum_j e^x_j along an axis. -inf gets exactly 0; a row of only -inf is an error.
template <class T>
Tensor<T> softmax(const Tensor<T>& x, std::ptrdiff_t axis = -1);

// Result for a fully masked row of n: an error, 1 / n everywhere, or 0 everywhere.
enum class Masked { error, uniform, zero };

// Masked softmax along the last axis of x (B, ..., Lq, Lk): elements where `allowed` (broadcasts to x) is 0 get exactly
// 0. An undefined `allowed` masks nothing. Infinite scores do not mask: a row whose allowed scores are all -inf is NaN.
// Errors name `op`, the query and the batch entry.
template <class T>
Tensor<T> softmax(const Tensor<T>& x, const MaskArray& allowed, Masked all_masked = Masked::error,
                  const char* op = "softmax");

// x_i - ln sum_j e^x_j along an axis.
template <class T>
Tensor<T> log_softmax(const Tensor<T>& x, std::ptrdiff_t axis = -1);

}  // namespace inkling
