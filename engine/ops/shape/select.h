// Selects elements of a tensor by index along an axis, and sorts. Indices are in [0, size of the axis). The ops keep a
// handle to the index array; do not write to it before backward.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// y[..., j, ...] = x[..., index[..., j, ...], ...], with index's shape, which is no larger than x's except along the
// axis.
template <class T>
Tensor<T> gather(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index);

// y[..., j, ...] = x[..., index[j], ...], index (n).
template <class T>
Tensor<T> index_select(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index);

// x with source[..., j, ...] added to [..., index[..., j, ...], ...], in order of j. index has source's shape, which is
// x's except along the axis.
template <class T>
Tensor<T> scatter_add(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index, const Tensor<T>& source);

template <class T>
struct Ordered {
    Tensor<T> values;  // with gradients, as gather(x, axis, ids)
    IdArray ids;       // their indices along x's axis
};

// Sorts along an axis. The sort is stable, and NaN counts as the largest.
template <class T>
Ordered<T> sort(const Tensor<T>& x, std::ptrdiff_t axis = -1, bool descending = false);

// The k largest elements, in descending order; cheaper than sort(x, axis, true).
template <class T>
Ordered<T> topk(const Tensor<T>& x, std::size_t k, std::ptrdiff_t axis = -1);

}  // namespace inkling
