// Cross entropy, the loss of classifiers and language models.
#pragma once

#include <vector>

#include "engine/autograd/tensor.h"
#include "engine/ops/reduce/reduce.h"

namespace inkling {

inline constexpr std::int32_t kIgnore = -100;  // torch's default

// Mean over the rows i with targets[i] != ignore of -ln softmax(logits_i)[targets[i]], in nats: logits (..., V),
// targets (...). If every row is ignored, the loss and its gradient are 0.
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets, std::int32_t ignore = kIgnore);

struct CrossEntropyOptions {
    std::vector<double> weight = {};  // per class; empty: all 1. The mean divides by the sum of the targets' weights
    std::int32_t ignore = kIgnore;
    Reduction reduction = Reduction::mean;  // none: one loss per row, 0 for ignored rows
    double label_smoothing = 0;             // in [0, 1]: the fraction of each target that is spread over all classes
};

// The same with options: cross_entropy(logits, targets, {.label_smoothing = 0.1}).
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets, const CrossEntropyOptions& options);
// The same with probabilities of classes as targets, (..., V) like the logits; the mean is over the rows. `ignore` is
// not used.
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const Tensor<T>& targets, const CrossEntropyOptions& options = {});

// The same for log_softmax(logits) as input, without label smoothing.
template <class T>
Tensor<T> nll_loss(const Tensor<T>& log_probabilities, const IdArray& targets, const CrossEntropyOptions& options = {});

}  // namespace inkling
