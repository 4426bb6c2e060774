// Where an element of a strided array lies.
#pragma once

#include "engine/base/dims.h"

namespace inkling {

// The offset of entry `index`, in row-major order, of the first `axes` axes.
inline std::ptrdiff_t offset_of(std::size_t index, const Shape& shape, const Strides& strides, std::size_t axes) {
    std::ptrdiff_t offset = 0;
    for (std::size_t axis = axes; axis-- > 0; index /= shape[axis])
        offset += static_cast<std::ptrdiff_t>(index % shape[axis]) * strides[axis];
    return offset;
}

}  // namespace inkling
