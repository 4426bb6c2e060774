// Sums, means and maxima over axes.
#pragma once

#include <vector>

#include "engine/tensor.h"

namespace inkling {

using Axes = std::vector<std::ptrdiff_t>;  // negative ones count from the back; none: all axes

// Over the named axes, which vanish, or stay with size 1 when `keep_axes`.
template <class T>
Tensor<T> sum(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
template <class T>
Tensor<T> mean(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);
// Elements that share the maximum share its gradient in equal parts.
template <class T>
Tensor<T> max(const Tensor<T>& x, const Axes& axes = {}, bool keep_axes = false);

}  // namespace inkling
