// Softmax and its logarithm.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// e^x_i / sum_j e^x_j along an axis. -inf gets exactly 0; a row of nothing but -inf is an error.
template <class T>
Tensor<T> softmax(const Tensor<T>& x, std::ptrdiff_t axis = -1);

// What becomes of a row whose every place is masked: an error, 1 / n in each of its n places, or 0 in each.
enum class Masked { error, uniform, zero };

// The same along the last axis of x (B, ..., Lq, Lk), over the places where `allowed`, which broadcasts to x, is not 0;
// the others get exactly 0. An undefined `allowed` masks nothing. Infinite scores are no mask: a row that has none
// above -inf but may see some is NaN. Errors name `op`, the query and the sequence of the batch.
template <class T>
Tensor<T> softmax(const Tensor<T>& x, const MaskArray& allowed, Masked none = Masked::error,
                  const char* op = "softmax");

// x_i - ln sum_j e^x_j along an axis.
template <class T>
Tensor<T> log_softmax(const Tensor<T>& x, std::ptrdiff_t axis = -1);

}  // namespace inkling
