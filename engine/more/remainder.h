// The remainder of a division rounded down, element by element: Python's %.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// a - b floor(a / b), computed without rounding, with b's sign; shapes broadcast.
template <class T>
Tensor<T> remainder(const Tensor<T>& a, const Tensor<T>& b);

}  // namespace inkling
