// Looks up rows of a table.
#pragma once

#include "engine/weights/weight.h"

namespace inkling {

// ids (...), weight (V, C) -> (..., C): row ids[i] of the table. Throws if an id is not in [0, V).
template <class T>
Tensor<T> embedding(const IdArray& ids, const Weight<T>& weight);
template <class T>
Tensor<T> embedding(const IdArray& ids, const Tensor<T>& weight) {
    return embedding(ids, Weight<T>(weight));
}

}  // namespace inkling
