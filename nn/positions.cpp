#include "nn/positions.h"

#include <cmath>

#include "engine/base/portable_math.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/shape/shape.h"
#include "nn/init.h"

namespace inkling::nn {

template <class T>
Array<T> sinusoidal_positions(std::size_t length, std::size_t width) {
    check(width % 2 == 0, "sinusoidal_positions: an even width is required, got {}", width);
    Array<T> table({length, width});
    for (std::size_t p = 0; p < length; ++p) {
        for (std::size_t i = 0; i < width; i += 2) {
            const double angle =
                static_cast<double>(p) / portable::pow(10000.0, static_cast<double>(i) / static_cast<double>(width));
            table.data()[p * width + i] = static_cast<T>(portable::sin(angle));
            table.data()[p * width + i + 1] = static_cast<T>(portable::cos(angle));
        }
    }
    return table;
}

template <class T>
LearnedPositions<T>::LearnedPositions(Generator& random, std::size_t length, std::size_t width)
    : weight(parameter<T>({length, width}, Initial::normal(0.02), random)) {}

template <class T>
Tensor<T> LearnedPositions<T>::forward(const Tensor<T>& x, std::size_t start) const {
    check(x.rank() >= 2 && x.dim(-1) == weight.dim(1) && start + x.dim(-2) <= weight.dim(0),
          "LearnedPositions: x (..., L, {}) with at most {} positions is required, got shape {} from position {}",
          weight.dim(1), weight.dim(0), x.shape(), start);
    return add(x, slice(weight, 0, start, start + x.dim(-2)));
}

template Array<float> sinusoidal_positions(std::size_t, std::size_t);
template Array<double> sinusoidal_positions(std::size_t, std::size_t);
template class LearnedPositions<float>;
template class LearnedPositions<double>;

}  // namespace inkling::nn
