// Sums of products over named axes, as torch.einsum writes them.
//   einsum("bqd,bkd->bqk", q, k)    // scores of queries and keys
//   einsum("ij->", x)               // a sum;  "ij->ji" transposes;  "ii" is a trace;  "ii->i" a diagonal
#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include "engine/tensor.h"

namespace inkling {

// One letter, a-z or A-Z, for each axis of each operand; a letter has one size. What stands behind -> are the axes of
// the result; all others are summed over. Without ->, they are the letters that occur once, in alphabetical order.
// Spaces count for nothing; "..." is not known. Operands are multiplied from left to right, by matmul where two share a
// letter that is summed.
template <class T>
Tensor<T> einsum(std::string_view equation, const std::vector<Tensor<T>>& operands);

template <class T, std::same_as<Tensor<T>>... Others>
Tensor<T> einsum(std::string_view equation, const Tensor<T>& first, const Others&... others) {
    return einsum(equation, std::vector<Tensor<T>>{first, others...});
}

}  // namespace inkling
