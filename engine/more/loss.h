// Losses for regression and binary classification; cross_entropy.h has the loss for classes.
#pragma once

#include "engine/autograd/tensor.h"
#include "engine/ops/reduce/reduce.h"

namespace inkling {

// (x - target)^2; x and target have equal shapes.
template <class T>
Tensor<T> mse_loss(const Tensor<T>& x, const Tensor<T>& target, Reduction reduction = Reduction::mean);

// -t ln p - (1 - t) ln(1 - p) with p = sigmoid(x), in nats, without overflow; logits x and targets t have equal shapes.
template <class T>
Tensor<T> binary_cross_entropy_with_logits(const Tensor<T>& logits, const Tensor<T>& target,
                                           Reduction reduction = Reduction::mean);

}  // namespace inkling
