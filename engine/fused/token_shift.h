// Token shift (Peng et al. 2023, RWKV): each token's vector gets a share of the one before it, so that a layer sees
// pairs of tokens without attention.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// y_t = x_t + w x_(t-1) for x (..., L, C) and w (C). The first row has none before it; with `positions` (..., L), each
// row's position in its document, nor has one at position 0.
template <class T>
Tensor<T> token_shift(const Tensor<T>& x, const Tensor<T>& w, const IdArray& positions = {});

}  // namespace inkling
