// Axes along which arrays are broadcast, as in NumPy (shapes are aligned at the right, and an axis of size 1 fits any
// size), and sums over axes. The order of additions depends only on the shape, not on the number of threads.
#pragma once

#include <concepts>
#include <vector>

#include "engine/array/array.h"

namespace inkling {

// Axes as users name them, -1 or {0, 2}. Negative ones count from the back; an empty list means all axes.
struct Axes : std::vector<std::ptrdiff_t> {
    template <class... N>
    requires((std::integral<N> && !std::same_as<N, bool>)&&...) Axes(N... axes)
        : vector{static_cast<std::ptrdiff_t>(axes)...} {}  // NOLINT: implicit on purpose
};

// The named axes as increasing indices, for the functions below. A scalar accepts axis 0 and has none. Throws if an
// axis does not exist or is named twice.
std::vector<std::size_t> sorted_axes(const char* op, const Axes& axes, std::size_t rank);

// The sum over axes; the result lacks them.
template <class T>
Array<T> sum_over(const ConstArray<T>& x, const std::vector<std::size_t>& axes);

// A shape without the axes, or with size 1 in their place.
Shape shape_without(const Shape& shape, const std::vector<std::size_t>& axes, bool keep_axes);
std::size_t count_over(const Shape& shape, const std::vector<std::size_t>& axes);  // elements that one result reduces

// The permutation that moves the named axes to the back.
Shape axes_last(std::size_t rank, const std::vector<std::size_t>& axes);

// x as a contiguous (outputs, reduced elements): the axes move to the back.
template <class T>
ConstArray<T> rows_over(const ConstArray<T>& x, const std::vector<std::size_t>& axes);

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
