// The activation of nanochat's feed-forward part (So et al. 2021, Primer).
#pragma once

#include "engine/tensor.h"

namespace inkling {

// max(x, 0)^2
template <class T>
Tensor<T> squared_relu(Tensor<T> x);

}  // namespace inkling
