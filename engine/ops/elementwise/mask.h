// Selects elements by a mask. Masks are MaskArrays (0 is false) and broadcast.
#pragma once

#include <utility>

#include "engine/autograd/tensor.h"
#include "engine/ops/elementwise/operators.h"

namespace inkling {

// a where the mask is true, b elsewhere; all three broadcast. One of a and b may be a number or an array:
//   where(x.value() > 0, x, 0.1)
template <class T>
Tensor<T> where(const MaskArray& mask, const Tensor<T>& a, const Tensor<T>& b);
template <class M, class A, class B>
requires WithTensor<A, B>  // makes it a better match than xtensor's where()
auto where(M&& mask, A&& a, B&& b) {
    using T = ElementOf<A, B>;
    const MaskArray chosen(std::forward<M>(mask));
    const Tensor<T> x = as_tensor<T>(a), y = as_tensor<T>(b);
    return where(chosen, x, y);
}

// `value` where the mask is true, x elsewhere. The mask broadcasts to x's shape.
template <class T>
Tensor<T> masked_fill(const Tensor<T>& x, const MaskArray& mask, double value);

// x (..., M, N) with zeros above (tril) or below (triu) the k-th diagonal, which holds x[..., i, i + k].
template <class T>
Tensor<T> tril(const Tensor<T>& x, std::ptrdiff_t k = 0);
template <class T>
Tensor<T> triu(const Tensor<T>& x, std::ptrdiff_t k = 0);

// (rows, columns): true for keys that a causal query must not see, above the diagonal that ends in the last corner.
// With rows == columns, that is column > row.
MaskArray causal_mask(std::size_t rows, std::size_t columns);

}  // namespace inkling
