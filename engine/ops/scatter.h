// Writes elements of one tensor into another by index: the opposite of gather. Made of other ops.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// x with source[..., j, ...] in place of [..., index[..., j, ...], ...]; of several in one place the last stays. Or
// each place gets the sum, the product, ... of all that comes to it, and of x itself where `include_self`. index is no
// larger than source, and than x but along the axis.
enum class Scatter { replace, sum, prod, mean, max, min };
template <class T>
Tensor<T> scatter(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index, const Tensor<T>& source,
                  Scatter how = Scatter::replace, bool include_self = true);

}  // namespace inkling
