// Rotates one row of queries or keys by the angles of its position. The op (ops/rotary.cpp) and a token step share it.
#pragma once

#include <cstddef>

namespace inkling {

// Pair i is x[step i], x[step i + other], for i < half. sign -1 rotates by -angle. y may be x.
template <std::size_t step, class T>
void rotate_row(const T* x, const T* cos, const T* sin, T sign, std::size_t half, std::size_t other, T* y) {
#pragma omp simd
    for (std::size_t i = 0; i < half; ++i) {
        const T x1 = x[step * i], x2 = x[step * i + other], sine = sign * sin[i];
        y[step * i] = x1 * cos[i] - x2 * sine;
        y[step * i + other] = x2 * cos[i] + x1 * sine;
    }
}

}  // namespace inkling
