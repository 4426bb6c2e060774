// Dropout whose mask is a function of a key: backward recomputes the mask instead of storing it.
#pragma once

#include "engine/autograd/tensor.h"
#include "engine/base/random.h"

namespace inkling {

// Keeps an element with probability 1 - p and multiplies it by 1 / (1 - p) (Srivastava et al. 2014). Element i is kept
// if the i-th 32-bit word of the key's sequence is at least p 2^32.
template <class T>
Tensor<T> dropout(const Tensor<T>& x, double p, const RandomKey& key);

}  // namespace inkling
