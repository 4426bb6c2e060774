// Joins tensors: along an axis that they have (concatenate), or along a new one (stack).
#pragma once

#include <initializer_list>
#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling {

// The parts one after the other along an axis; their other sizes are equal.
template <class T>
Tensor<T> concatenate(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis);
template <class T>
Tensor<T> stack(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis);  // along a new axis
// Overloads for braces: concatenate({a, b}, 0).
template <class T>
Tensor<T> concatenate(std::initializer_list<Tensor<T>> parts, std::ptrdiff_t axis) {
    return concatenate(std::vector<Tensor<T>>(parts), axis);
}
template <class T>
Tensor<T> stack(std::initializer_list<Tensor<T>> parts, std::ptrdiff_t axis) {
    return stack(std::vector<Tensor<T>>(parts), axis);
}

}  // namespace inkling
