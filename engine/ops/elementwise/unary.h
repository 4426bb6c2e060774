// Functions of one tensor, element by element.
#pragma once

#include <limits>

#include "engine/autograd/tensor.h"

namespace inkling {

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
Tensor<T> abs(const Tensor<T>& x);  // the gradient at 0 is 0
template <class T>
Tensor<T> sin(const Tensor<T>& x);
template <class T>
Tensor<T> cos(const Tensor<T>& x);
template <class T>
Tensor<T> asin(const Tensor<T>& x);
template <class T>
Tensor<T> acos(const Tensor<T>& x);
template <class T>
Tensor<T> atan(const Tensor<T>& x);
template <class T>
Tensor<T> log1p(const Tensor<T>& x);  // ln(1 + x), exact for small x
template <class T>
Tensor<T> expm1(const Tensor<T>& x);  // e^x - 1, exact for small x
template <class T>
Tensor<T> erf(const Tensor<T>& x);  // 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x

// Steps: their gradient is 0.
template <class T>
Tensor<T> floor(const Tensor<T>& x);
template <class T>
Tensor<T> ceil(const Tensor<T>& x);
template <class T>
Tensor<T> trunc(const Tensor<T>& x);  // toward 0
template <class T>
Tensor<T> round(const Tensor<T>& x);  // halves to the even number
template <class T>
Tensor<T> sign(const Tensor<T>& x);  // -1, 0 or 1

// Limits x to [lowest, highest]; `highest` wins if `lowest` is above it. The gradient is 0 at and beyond the limits.
template <class T>
Tensor<T> clamp(const Tensor<T>& x, double lowest, double highest = std::numeric_limits<double>::infinity());

}  // namespace inkling
