// The linear layer's product.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// y = x W^T + b: x (..., in), weight (out, in) as torch.nn.Linear stores it, bias (out) or an undefined tensor. The
// weight may be packed (engine/autograd/packed_matrix.h).
template <class T>
Tensor<T> linear(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias = {});

}  // namespace inkling
