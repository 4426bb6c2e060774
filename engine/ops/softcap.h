// Keeps logits from growing without bound (Gemma 2, nanochat).
#pragma once

#include "engine/tensor.h"

namespace inkling {

// cap tanh(x / cap): x itself near 0, never beyond +-cap. cap > 0.
template <class T>
Tensor<T> softcap(const Tensor<T>& x, double cap);

}  // namespace inkling
