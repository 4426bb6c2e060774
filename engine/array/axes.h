// Sums of arrays over axes, which ops and gradients share. Elements are added in an order that depends on the shape
// alone, not on the number of threads.
#pragma once

#include <concepts>
#include <vector>

#include "engine/array/array.h"

namespace inkling {

// As users name them, -1 or {0, 2}: negative ones count from the back; none: all axes.
struct Axes : std::vector<std::ptrdiff_t> {
    template <class... N>
    requires((std::integral<N> && !std::same_as<N, bool>)&&...) Axes(N... axes)
        : vector{static_cast<std::ptrdiff_t>(axes)...} {}  // NOLINT: implicit on purpose
};

// The named axes as indices, increasing, as the functions below take them: none of a scalar, which counts as one of
// axis 0. Throws when one does not exist or is named twice.
std::vector<std::size_t> sorted_axes(const char* op, const Axes& axes, std::size_t rank);

// The sum over axes, which the result does not have.
template <class T>
Array<T> sum_over(const ConstArray<T>& x, const std::vector<std::size_t>& axes);

// A shape without the axes, or with size 1 in their place.
Shape shape_without(const Shape& shape, const std::vector<std::size_t>& axes, bool keep_axes);

// The order of the axes with the named ones moved to the back.
Shape axes_last(std::size_t rank, const std::vector<std::size_t>& axes);

// x as (outputs, reduced elements), contiguous: the axes moved to the back.
template <class T>
ConstArray<T> rows_over(const ConstArray<T>& x, const std::vector<std::size_t>& axes);

}  // namespace inkling
