// The product of a low-rank adapter (Hu et al. 2021), added to that of the layer that it belongs to.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// y + scale x A^T B^T: y (..., out), x (..., in), A (r, in), B (out, r). Works in y's own memory where the caller gives
// it up and nothing else holds it.
template <class T>
Tensor<T> add_low_rank(Tensor<T> y, const Tensor<T>& x, const Tensor<T>& a, const Tensor<T>& b, double scale);

}  // namespace inkling
