// Sums of products over named axes, as torch.einsum writes them.
//   einsum("bqd,bkd->bqk", q, k)    // scores of queries and keys
//   einsum("ij->", x)               // a sum;  "ij->ji" transposes;  "ii" is a trace;  "ii->i" a diagonal
#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling {

// One letter, a-z or A-Z, names each axis of each operand; "..." names any number of axes, which broadcast from the
// right as in NumPy. A letter has one size; size 1 broadcasts. The letters after -> are the axes of the result; all
// others are summed, also the axes of an ellipsis that the result does not have. Without ->, the result has the axes of
// the ellipsis, then the letters that occur once, in alphabetical order. Spaces are ignored. Operands are multiplied
// from left to right, by matmul if two share a summed letter.
template <class T>
Tensor<T> einsum(std::string_view equation, const std::vector<Tensor<T>>& operands);

template <class T, std::same_as<Tensor<T>>... Others>
Tensor<T> einsum(std::string_view equation, const Tensor<T>& first, const Others&... others) {
    return einsum(equation, std::vector<Tensor<T>>{first, others...});
}

}  // namespace inkling
