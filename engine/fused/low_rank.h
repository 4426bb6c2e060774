// Adds the product of a low-rank adapter (LoRA, Hu et al. 2021) to the output of its layer.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// y + scale x A^T B^T: y (..., out), x (..., in), A (r, in), B (out, r). Computes in place if the caller moves y in
// and nothing else holds its memory.
template <class T>
Tensor<T> add_low_rank(Tensor<T> y, const Tensor<T>& x, const Tensor<T>& a, const Tensor<T>& b, double scale);

}  // namespace inkling
