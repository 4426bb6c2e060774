// Repeats what lies along an axis, as torch.repeat_interleave does: a b -> a a b b. Query heads that share key and
// value heads use it.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// x (..., n, ...) -> (..., n times, ...), each entry `times` times in a row. One time is x itself.
template <class T>
Tensor<T> repeat(const Tensor<T>& x, std::size_t times, std::ptrdiff_t axis);

}  // namespace inkling
