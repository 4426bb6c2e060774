// Choosing elements by a mask. Masks are MaskArrays (0 is false) that broadcast.
#pragma once

#include "engine/tensor.h"

namespace inkling {

// a where the mask is true, b elsewhere; all three broadcast. Call it as inkling::where: xtensor has a where() of its
// own, which an unqualified call with an Array would also find.
template <class T>
Tensor<T> where(const MaskArray& mask, const Tensor<T>& a, const Tensor<T>& b);

// `value` where the mask is true, x elsewhere. The mask broadcasts to x's shape.
template <class T>
Tensor<T> masked_fill(const Tensor<T>& x, const MaskArray& mask, double value);

// x (..., M, N) with zeros above (tril) or below (triu) the k-th diagonal, which holds x[..., i, i + k].
template <class T>
Tensor<T> tril(const Tensor<T>& x, std::ptrdiff_t k = 0);
template <class T>
Tensor<T> triu(const Tensor<T>& x, std::ptrdiff_t k = 0);

// (rows, columns): true strictly above the diagonal that ends in the last corner, which is what a causal query must not
// see; with rows == columns, column > row.
MaskArray causal_mask(std::size_t rows, std::size_t columns);

}  // namespace inkling
