// The loss of a language model.
#pragma once

#include "engine/tensor.h"

namespace inkling {

inline constexpr std::int32_t kIgnore = -100;  // torch's default

// Mean over the rows i with targets[i] != ignore of -ln softmax(logits_i)[targets[i]], in nats: logits (..., V),
// targets of the shape in front. When every row is ignored, the loss and its gradient are 0.
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets, std::int32_t ignore = kIgnore);

}  // namespace inkling
