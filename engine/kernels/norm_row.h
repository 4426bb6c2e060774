// One row of layer_norm or rms_norm: the op (ops/normalize.cpp) and the decoder compute it alike.
//   xhat = (x - mean) scale,  scale = 1 / sqrt(variance + eps);  y = xhat gain + bias
#pragma once

#include <cmath>

#include "engine/kernels/simd.h"

namespace inkling {

template <class T>
struct RowMoments {
    T mean, scale;
};

// Of x_0 .. x_{n-1}; rms_norm, which is not centered, has mean 0.
template <class T>
RowMoments<T> row_moments(std::size_t n, const T* x, bool centered, T eps) {
    const T inverse = T{1} / static_cast<T>(n);
    const T mean = centered ? simd_sum(
                                  n, [](auto v) { return v; }, x) *
                                  inverse
                            : T{0};
    const T variance = simd_sum(
                           n, [mu = Vec<T>(mean)](auto v) { return (v - mu) * (v - mu); }, x) *
                       inverse;
    return {mean, T{1} / std::sqrt(variance + eps)};
}

// gain may be null, and then bias is null, too.
template <class T>
void normalize_row(std::size_t n, const T* x, const RowMoments<T>& moments, const T* gain, const T* bias, T* y) {
    const Vec<T> mean(moments.mean), scale(moments.scale);
    if (bias) {
        simd_map(
            n, y, [=](auto v, auto g, auto b) { return (v - mean) * scale * g + b; }, x, gain, bias);
    } else if (gain) {
        simd_map(
            n, y, [=](auto v, auto g) { return (v - mean) * scale * g; }, x, gain);
    } else {
        simd_map(
            n, y, [=](auto v) { return (v - mean) * scale; }, x);
    }
}

}  // namespace inkling
