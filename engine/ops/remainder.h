// What is left of a division that is rounded down, element by element: Python's %.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// a - b floor(a / b), without rounding, and so of b's sign; shapes broadcast.
template <class T>
Tensor<T> remainder(const Tensor<T>& a, const Tensor<T>& b);

}  // namespace inkling
