// What convolutions and pooling share with unfold: options for each axis, and the number of windows along one.
#pragma once

#include "engine/more/windows.h"

namespace inkling {

inline Shape for_axes(const char* op, const AxisSizes& sizes, std::size_t axes) {
    check(sizes.size() == 1 || sizes.size() == axes, "{}: expected one number, or {}, got {}", op, axes,
          static_cast<const Shape&>(sizes));
    return sizes.size() == 1 ? Shape(axes, sizes[0]) : Shape(sizes);
}

inline std::size_t count_windows(const char* op, std::size_t n, std::size_t size, std::size_t step,
                                 std::size_t dilation) {
    check(size > 0 && step > 0 && dilation > 0 && dilation * (size - 1) < n,
          "{}: expected windows of 1 to {} elements, got {} of dilation {} and step {}", op, n, size, dilation, step);
    return (n - 1 - dilation * (size - 1)) / step + 1;
}

}  // namespace inkling
