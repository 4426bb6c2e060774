// The linear layer's product.
#pragma once

#include "engine/weights/weight.h"

namespace inkling {

// y = x W^T + b: x (..., in), weight (out, in) as torch.nn.Linear stores it, bias (out) or an undefined tensor.
template <class T>
Tensor<T> linear(const Tensor<T>& x, const std::type_identity_t<Weight<T>>& weight, const Tensor<T>& bias = {});

// The same for a few rows of x, without a gradient: reads each weight once, as it is stored, where linear packs it.
// The weight must be contiguous.
Tensor<float> linear_by_row(const Tensor<float>& x, const Weight<float>& weight, const Tensor<float>& bias = {});

// Its outputs [begin, end), on this thread: y[b y_stride + i] for `batch` vectors x that are contiguous.
void linear_by_row(const Weight<float>& weight, const Tensor<float>& bias, std::size_t begin, std::size_t end,
                   const float* x, std::size_t batch, float* y, std::size_t y_stride);

}  // namespace inkling
