// Splits a tensor into pieces whose gradients lie in one array. The plain twin is a slice for each piece.
#pragma once

#include <concepts>
#include <vector>

#include "engine/ops/shape/shape.h"

namespace inkling {

// Splits along an axis into pieces of these sizes, or into `parts` equal pieces. Their gradients are views of x's.
template <class T>
std::vector<Tensor<T>> split(const Tensor<T>& x, const std::vector<std::size_t>& sizes, std::ptrdiff_t axis);
std::vector<std::size_t> equal_sizes(const Shape& shape, std::size_t parts, std::ptrdiff_t axis);
template <class T, std::integral N>
std::vector<Tensor<T>> split(const Tensor<T>& x, N parts, std::ptrdiff_t axis) {
    check_defined("split", x);
    return split(x, equal_sizes(x.shape(), static_cast<std::size_t>(parts), axis), axis);
}

}  // namespace inkling
