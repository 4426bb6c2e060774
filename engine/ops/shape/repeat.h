// Repeats each entry along an axis, as torch.repeat_interleave does: a b -> a a b b.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// x (..., n, ...) -> (..., n times, ...), each entry repeated `times` times. times = 1 returns x itself.
template <class T>
Tensor<T> repeat(const Tensor<T>& x, std::size_t times, std::ptrdiff_t axis);

}  // namespace inkling
