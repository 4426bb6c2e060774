// Softmax and its logarithm.
#pragma once

#include "engine/tensor.h"

namespace inkling {

// e^x_i / sum_j e^x_j along an axis. -inf gets exactly 0; a row of nothing but -inf is an error.
template <class T>
Tensor<T> softmax(const Tensor<T>& x, std::ptrdiff_t axis = -1);

// x_i - ln sum_j e^x_j along an axis.
template <class T>
Tensor<T> log_softmax(const Tensor<T>& x, std::ptrdiff_t axis = -1);

}  // namespace inkling
