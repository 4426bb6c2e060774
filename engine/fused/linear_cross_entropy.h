// The head of a language model and its loss in one op. With large vocabularies, the full logits are never in memory.
#pragma once

#include "engine/fused/cross_entropy.h"
#include "engine/weights/weight.h"

namespace inkling {

// cross_entropy(linear(x, weight), targets, ignore) for x (..., C), weight (V, C) and targets (...), with at most
// `block` columns of logits at a time. block 0 chooses: the two separate ops if the logits take at most 128 MiB.
// cap > 0 applies softcap(logits, cap) in between.
template <class T>
Tensor<T> linear_cross_entropy(const Tensor<T>& x, const std::type_identity_t<Weight<T>>& weight,
                               const IdArray& targets, std::int32_t ignore = kIgnore, std::size_t block = 0,
                               double cap = 0);

// The block that linear_cross_entropy chooses for this many rows of x and bytes per element.
std::size_t columns_at_a_time(std::size_t rows, std::size_t vocab_size, std::size_t element_bytes);

}  // namespace inkling
