// Cross entropy, the loss of classifiers and language models.
#pragma once

#include "engine/ops/plain/cross_entropy.h"

namespace inkling {

// Mean over the rows i with targets[i] != ignore of -ln softmax(logits_i)[targets[i]], in nats: logits (..., V),
// targets (...). If every row is ignored, the loss and its gradient are 0.
//   cross_entropy(logits, targets, {.label_smoothing = 0.1})
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets, const CrossEntropyOptions& options = {});
// The same with probabilities of classes as targets, (..., V) like the logits; the mean is over the rows. `ignore` is
// not used.
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const Tensor<T>& targets, const CrossEntropyOptions& options = {});

// The same for log_softmax(logits) as input.
template <class T>
Tensor<T> nll_loss(const Tensor<T>& log_probabilities, const IdArray& targets, const CrossEntropyOptions& options = {});

}  // namespace inkling
