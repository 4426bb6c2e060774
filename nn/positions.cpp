#include "nn/positions.h"

#include "engine/base/portable_math.h"

namespace inkling::nn {

template <class T>
Array<T> sinusoidal_positions(std::size_t length, std::size_t width) {
    check(width % 2 == 0, "sinusoidal_positions: expected an even width, got {}", width);
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

template Array<float> sinusoidal_positions(std::size_t, std::size_t);
template Array<double> sinusoidal_positions(std::size_t, std::size_t);

}  // namespace inkling::nn
