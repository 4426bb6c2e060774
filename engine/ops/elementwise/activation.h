// Activation functions, and the soft cap of logits, element by element.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

template <class T>
Tensor<T> tanh(const Tensor<T>& x);
template <class T>
Tensor<T> sigmoid(const Tensor<T>& x);  // 1 / (1 + e^-x)
template <class T>
Tensor<T> relu(Tensor<T> x);  // max(x, 0); the gradient at 0 is 0
template <class T>
Tensor<T> silu(Tensor<T> x);  // x sigmoid(x)
template <class T>
Tensor<T> gelu(Tensor<T> x);  // GPT-2's: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
template <class T>
Tensor<T> gelu_erf(Tensor<T> x);  // x Phi(x), Phi the normal distribution (Hendrycks and Gimpel 2016)
template <class T>
Tensor<T> squared_relu(Tensor<T> x);  // max(x, 0)^2 (So et al. 2021, Primer)
template <class T>
Tensor<T> softplus(const Tensor<T>& x);  // ln(1 + e^x)
template <class T>
Tensor<T> leaky_relu(const Tensor<T>& x, double negative_slope = 0.01);  // x, or negative_slope x where x <= 0
template <class T>
Tensor<T> elu(const Tensor<T>& x, double alpha = 1);  // x, or alpha (e^x - 1) where x <= 0 (Clevert et al. 2015)

// cap tanh(x / cap): close to x near 0, and never beyond +-cap (Gemma 2, nanochat's logits). cap > 0.
template <class T>
Tensor<T> softcap(Tensor<T> x, double cap);

}  // namespace inkling
