// Rows added to rows.
#pragma once

#include "engine/kernels/simd.h"

namespace inkling {

// y += x.
template <class T>
inline void add_row(std::size_t n, T* y, const T* x) {
    simd_map(n, y, {y, x}, [](auto a, auto b) { return a + b; });
}

// y += a b, rounded once.
template <class T>
inline void add_product_row(std::size_t n, T* y, const T* a, const T* b) {
    simd_map(n, y, {y, a, b}, [](auto sum, auto v, auto w) { return multiply_add(v, w, sum); });
}

}  // namespace inkling
