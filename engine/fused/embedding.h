// Looks up rows of a table.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// ids (...), weight (V, C) -> (..., C): row ids[i] of the table. Throws if an id is not in [0, V).
template <class T>
Tensor<T> embedding(const IdArray& ids, const Tensor<T>& weight);

}  // namespace inkling
