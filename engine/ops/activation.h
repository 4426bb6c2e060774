// Activation functions, element by element.
#pragma once

#include "engine/tensor.h"

namespace inkling {

template <class T>
Tensor<T> tanh(const Tensor<T>& x);
template <class T>
Tensor<T> sigmoid(const Tensor<T>& x);  // 1 / (1 + e^-x)
template <class T>
Tensor<T> relu(const Tensor<T>& x);  // max(x, 0); the gradient at 0 is 0
template <class T>
Tensor<T> silu(const Tensor<T>& x);  // x sigmoid(x)
template <class T>
Tensor<T> gelu(Tensor<T> x);  // GPT-2's: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
template <class T>
Tensor<T> gelu_erf(const Tensor<T>& x);  // x Phi(x), Phi the normal distribution (Hendrycks and Gimpel 2016)

}  // namespace inkling
