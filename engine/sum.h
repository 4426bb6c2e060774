// Sums of arrays over axes, which ops and gradients share. Axes are indices, increasing. Elements are added in an order
// that depends on the shape alone, not on the number of threads.
#pragma once

#include <vector>

#include "engine/array.h"

namespace inkling {

// The sum over axes, which the result does not have.
template <class T>
Array<T> sum_over(const ConstArray<T>& x, const std::vector<std::size_t>& axes);

// A shape without the axes, or with size 1 in their place.
Shape shape_without(const Shape& shape, const std::vector<std::size_t>& axes, bool keep_axes);

// x as (outputs, reduced elements), contiguous: the axes moved to the back.
template <class T>
ConstArray<T> rows_over(const ConstArray<T>& x, const std::vector<std::size_t>& axes);

}  // namespace inkling
