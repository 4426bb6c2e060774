// Writes elements of one tensor into another by index: the opposite of gather. Composed of other ops.
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// x with source[..., j, ...] written to [..., index[..., j, ...], ...]; the last of several writes wins. Or each
// element gets the sum, the product, ... of all values written to it, and of x itself if `include_self`. index is no
// larger than source, and no larger than x except along the axis.
enum class Scatter { replace, sum, prod, mean, max, min };
template <class T>
Tensor<T> scatter(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index, const Tensor<T>& source,
                  Scatter how = Scatter::replace, bool include_self = true);

}  // namespace inkling
