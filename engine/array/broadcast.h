// Broadcasting as in NumPy: shapes are aligned at the right, and an axis of size 1 fits any size.
#pragma once

#include <vector>

#include "engine/array/array.h"

namespace inkling {

// The common shape of two shapes that broadcast together. Throws and names the op if they do not.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);

// Whether shape `from` broadcasts to `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

// The axes of `to` along which a value of shape `from` is broadcast.
std::vector<std::size_t> broadcast_axes(const Shape& from, const Shape& to);

// The inverse for gradients: sums `g` over the axes along which a value of `shape` was broadcast.
template <class T>
Array<T> sum_to(const Array<T>& g, const Shape& shape);

}  // namespace inkling
