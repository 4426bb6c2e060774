// Initial values of parameters.
#pragma once

#include "engine/random.h"
#include "engine/tensor.h"

namespace inkling::nn {

// Parameters: leaves that want a gradient.
template <class T>
Tensor<T> parameter(const Shape& shape, T value);
template <class T>
Tensor<T> normal_parameter(const Shape& shape, double deviation, const RandomKey& key);  // N(0, deviation^2)
template <class T>
Tensor<T> uniform_parameter(const Shape& shape, double bound, const RandomKey& key);  // uniform in [-bound, bound)

// Overwrites a parameter with N(0, deviation^2).
template <class T>
void fill_normal(Tensor<T>& p, double deviation, const RandomKey& key);

}  // namespace inkling::nn
