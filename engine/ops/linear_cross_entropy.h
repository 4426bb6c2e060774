// The head of a language model and its loss in one op, for large vocabularies: the logits never exist as a whole.
#pragma once

#include "engine/ops/cross_entropy.h"

namespace inkling {

// cross_entropy(linear(x, weight), targets, ignore) for x (..., C), weight (V, C) and targets (...), with at most
// `block` columns of logits at a time; 0 chooses: all of them, and the two ops above, when they take less than 32 MiB.
// With a cap above 0, softcap(., cap) lies between the two.
template <class T>
Tensor<T> linear_cross_entropy(const Tensor<T>& x, const Tensor<T>& weight, const IdArray& targets,
                               std::int32_t ignore = kIgnore, std::size_t block = 0, double cap = 0);

// The columns that it chooses, for so many rows of x and elements of so many bytes.
std::size_t columns_at_a_time(std::size_t rows, std::size_t vocab_size, std::size_t element_bytes);

}  // namespace inkling
