// The loss of a language model, and of any choice among classes.
#pragma once

#include <vector>

#include "engine/autograd/tensor.h"
#include "engine/ops/reduce.h"

namespace inkling {

inline constexpr std::int32_t kIgnore = -100;  // torch's default

// Mean over the rows i with targets[i] != ignore of -ln softmax(logits_i)[targets[i]], in nats: logits (..., V),
// targets of the shape in front. When every row is ignored, the loss and its gradient are 0.
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets, std::int32_t ignore = kIgnore);

struct CrossEntropyOptions {
    std::vector<double> weight = {};  // of each class; none: 1 each. The mean is over the targets' weights
    std::int32_t ignore = kIgnore;
    Reduction reduction = Reduction::mean;  // none: a loss for each row, 0 where it is ignored
    double label_smoothing = 0;             // the part of a target, of 0 to 1, that all classes share
};

// The same with options: cross_entropy(logits, targets, {.label_smoothing = 0.1}).
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets, const CrossEntropyOptions& options);

}  // namespace inkling
