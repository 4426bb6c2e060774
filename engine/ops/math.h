// Functions of numbers, element by element, beyond arithmetic. Those of two tensors broadcast as NumPy does.
#pragma once

#include <limits>

#include "engine/autograd/tensor.h"

namespace inkling {

template <class T>
Tensor<T> abs(const Tensor<T>& x);  // the gradient at 0 is 0
template <class T>
Tensor<T> sin(const Tensor<T>& x);
template <class T>
Tensor<T> cos(const Tensor<T>& x);
template <class T>
Tensor<T> log1p(const Tensor<T>& x);  // ln(1 + x), exact for small x
template <class T>
Tensor<T> expm1(const Tensor<T>& x);  // e^x - 1, exact for small x
template <class T>
Tensor<T> erf(const Tensor<T>& x);  // 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x

// x, but at least `lowest` and at most `highest`. The gradient is 0 where x is one of them, as outside.
template <class T>
Tensor<T> clamp(const Tensor<T>& x, double lowest, double highest = std::numeric_limits<double>::infinity());

// The larger and the smaller of two numbers, NaN if one is. Equal ones share the gradient in equal parts.
template <class T>
Tensor<T> maximum(const Tensor<T>& a, const Tensor<T>& b);
template <class T>
Tensor<T> minimum(const Tensor<T>& a, const Tensor<T>& b);

template <class T>
Tensor<T> pow(const Tensor<T>& x, const Tensor<T>& exponent);  // x^0 is 1 for every x

}  // namespace inkling
