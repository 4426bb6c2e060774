// One row of layer_norm or rms_norm. The op (ops/normalize.cpp) and a token step share it.
//   xhat = (x - mean) scale,  scale = 1 / sqrt(variance + eps);  y = xhat gain + bias
#pragma once

#include <cmath>
#include <limits>

#include "engine/kernels/lanes.h"

namespace inkling {

template <class T>
struct RowMoments {
    T mean, scale;
};

// Whether a mean of squares is accurate: no larger square has over- or underflowed.
template <class T>
bool squares_fit(T mean_square) {
    constexpr T least =
        std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon() / std::numeric_limits<T>::epsilon();
    return mean_square >= least && mean_square <= std::numeric_limits<T>::max();
}

// The same for squares that do not fit, in a type with a range for any square.
template <class T>
struct WideMoments {
    using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
    Wide mean = 0, squares = 0;  // squares: the sum of (x - mean)^2

    WideMoments(std::size_t n, const T* x, bool centered) {
        for (std::size_t i = 0; centered && i < n; ++i) mean += static_cast<Wide>(x[i]);
        mean /= static_cast<Wide>(n);
        for (std::size_t i = 0; i < n; ++i) {
            const Wide d = static_cast<Wide>(x[i]) - mean;
            squares += d * d;
        }
    }
};

// The moments of x_0 .. x_{n-1}; rms_norm is not centered and has mean 0.
template <class T>
RowMoments<T> row_moments(std::size_t n, const T* x, bool centered, T eps) {
    const T inverse = T{1} / static_cast<T>(n);
    const T mean = centered ? simd_sum(n, x) * inverse : T{0};
    const T variance =
        simd_sum(n, {x}, [mu = Vec<T>(mean)](auto sum, auto v) { return multiply_add(v - mu, v - mu, sum); }) * inverse;
    if (squares_fit(variance + eps)) [[likely]]
        return {mean, T{1} / std::sqrt(variance + eps)};
    const WideMoments<T> wide(n, x, centered);
    const auto mean_square = wide.squares / static_cast<decltype(wide.mean)>(n) + static_cast<decltype(wide.mean)>(eps);
    return {static_cast<T>(wide.mean), static_cast<T>(1 / std::sqrt(mean_square))};
}

// gain may be null; then bias must be null, too.
template <class T>
void normalize_row(std::size_t n, const T* x, const RowMoments<T>& moments, const T* gain, const T* bias, T* y) {
    const Vec<T> mean(moments.mean), scale(moments.scale);
    if (bias) {
        simd_map(n, y, {x, gain, bias}, [=](auto v, auto g, auto b) { return (v - mean) * scale * g + b; });
    } else if (gain) {
        simd_map(n, y, {x, gain}, [=](auto v, auto g) { return (v - mean) * scale * g; });
    } else {
        simd_map(n, y, {x}, [=](auto v) { return (v - mean) * scale; });
    }
}

}  // namespace inkling
