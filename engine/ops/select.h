// Elements of a tensor chosen by their numbers along an axis, and put in order. Ids are at least 0 and below the size
// of that axis; the ops keep a handle to their array, which must not be written to before backward.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// y[..., j, ...] = x[..., index[..., j, ...], ...], of index's shape, which is x's but along the axis.
template <class T>
Tensor<T> gather(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index);

// y[..., j, ...] = x[..., index[j], ...], index (n): what lies at these places of the axis.
template <class T>
Tensor<T> index_select(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index);

// x with source[..., j, ...] added to [..., index[..., j, ...], ...], in order of j. index has source's shape, which is
// x's but along the axis.
template <class T>
Tensor<T> scatter_add(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index, const Tensor<T>& source);

template <class T>
struct Ordered {
    Tensor<T> values;  // with gradients, as gather(x, axis, ids)
    IdArray ids;       // where in x's axis they were
};

// The elements along an axis in order; equal ones stay in the order in which they were, and NaN counts as the largest.
template <class T>
Ordered<T> sort(const Tensor<T>& x, std::ptrdiff_t axis = -1, bool descending = false);

// The k largest, as sort(x, axis, true) has them in front, at less cost.
template <class T>
Ordered<T> topk(const Tensor<T>& x, std::size_t k, std::ptrdiff_t axis = -1);

}  // namespace inkling
