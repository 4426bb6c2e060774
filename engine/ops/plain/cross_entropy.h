// Cross entropy as its formula says. engine/fused/cross_entropy.h has the same function, in one pass.
#pragma once

#include <vector>

#include "engine/autograd/tensor.h"
#include "engine/ops/reduce/reduce.h"

namespace inkling {

inline constexpr std::int32_t kIgnore = -100;  // torch's default

struct CrossEntropyOptions {
    std::vector<double> weight = {};  // per class; empty: all 1. The mean divides by the sum of the targets' weights
    std::int32_t ignore = kIgnore;
    Reduction reduction = Reduction::mean;  // none: one loss per row, 0 for ignored rows
    double label_smoothing = 0;             // in [0, 1]: the fraction of each target that is spread over all classes
};

namespace plain {

// -ln softmax(logits)[target] for logits (..., V) and targets (...), reduced over the rows whose target is not ignored.
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets, const CrossEntropyOptions& options);

// The same for log_softmax(logits).
template <class T>
Tensor<T> nll_loss(const Tensor<T>& log_probabilities, const IdArray& targets, const CrossEntropyOptions& options);

}  // namespace plain
}  // namespace inkling
