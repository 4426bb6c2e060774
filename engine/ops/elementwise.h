// Arithmetic, element by element, broadcasting as NumPy does.
#pragma once

#include "engine/tensor.h"

namespace inkling {

template <class T>
Tensor<T> add(const Tensor<T>& a, const Tensor<T>& b);
template <class T>
Tensor<T> sub(const Tensor<T>& a, const Tensor<T>& b);
template <class T>
Tensor<T> mul(const Tensor<T>& a, const Tensor<T>& b);
template <class T>
Tensor<T> div(const Tensor<T>& a, const Tensor<T>& b);

template <class T>
Tensor<T> neg(const Tensor<T>& x);
template <class T>
Tensor<T> exp(const Tensor<T>& x);
template <class T>
Tensor<T> log(const Tensor<T>& x);  // natural; log(0) is -inf
template <class T>
Tensor<T> sqrt(const Tensor<T>& x);
template <class T>
Tensor<T> pow(const Tensor<T>& x, double exponent);

// factor * x + offset
template <class T>
Tensor<T> affine(const Tensor<T>& x, double factor, double offset);
template <class T>
Tensor<T> scale(const Tensor<T>& x, double factor) {
    return affine(x, factor, 0.0);
}

template <class T>
Tensor<T> operator+(const Tensor<T>& a, const Tensor<T>& b) {
    return add(a, b);
}
template <class T>
Tensor<T> operator-(const Tensor<T>& a, const Tensor<T>& b) {
    return sub(a, b);
}
template <class T>
Tensor<T> operator*(const Tensor<T>& a, const Tensor<T>& b) {
    return mul(a, b);
}
template <class T>
Tensor<T> operator/(const Tensor<T>& a, const Tensor<T>& b) {
    return div(a, b);
}
template <class T>
Tensor<T> operator-(const Tensor<T>& x) {
    return neg(x);
}

}  // namespace inkling
