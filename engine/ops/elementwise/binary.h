// Functions of two tensors, element by element, broadcasting as NumPy does.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

template <class T>
Tensor<T> add(const Tensor<T>& a, const Tensor<T>& b);
template <class T>
Tensor<T> sub(const Tensor<T>& a, const Tensor<T>& b);
template <class T>
Tensor<T> mul(Tensor<T> a, const Tensor<T>& b);  // in a's own memory if nothing else holds it
template <class T>
Tensor<T> div(const Tensor<T>& a, const Tensor<T>& b);

// The larger and the smaller of two numbers; NaN if either is NaN. Equal numbers share the gradient equally.
template <class T>
Tensor<T> maximum(const Tensor<T>& a, const Tensor<T>& b);
template <class T>
Tensor<T> minimum(const Tensor<T>& a, const Tensor<T>& b);

template <class T>
Tensor<T> pow(const Tensor<T>& x, const Tensor<T>& exponent);  // x^0 is 1 for every x

// a - b floor(a / b), computed without rounding, with b's sign: Python's %.
template <class T>
Tensor<T> remainder(const Tensor<T>& a, const Tensor<T>& b);

}  // namespace inkling
