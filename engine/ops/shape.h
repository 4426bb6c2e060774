// Views and joins. reshape, permute, transpose, slice and split share their input's buffer and copy nothing; their
// gradients are views too.
#pragma once

#include <vector>

#include "engine/tensor.h"

namespace inkling {

template <class T>
Tensor<T> reshape(const Tensor<T>& x, const Shape& shape);
template <class T>
Tensor<T> permute(const Tensor<T>& x, const Shape& axes);  // axis i of the result is axis axes[i] of x
template <class T>
Tensor<T> transpose(const Tensor<T>& x, std::ptrdiff_t a, std::ptrdiff_t b);
template <class T>
Tensor<T> slice(const Tensor<T>& x, std::ptrdiff_t axis, std::size_t begin, std::size_t end, std::size_t step = 1);

// `parts` pieces of equal size along an axis. Their gradients are written into one array, x's.
template <class T>
std::vector<Tensor<T>> split(const Tensor<T>& x, std::size_t parts, std::ptrdiff_t axis);

template <class T>
Tensor<T> concatenate(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis);
template <class T>
Tensor<T> stack(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis);  // along a new axis

}  // namespace inkling
