#include "models/rotary_positions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/portable_math.h"

namespace inkling::models {

std::vector<double> rotary_divisors(const Architecture& a) {
    const RopeOptions& o = a.rope;
    const std::size_t half = a.rotary_size() / 2;
    std::vector<double> divisors(half, o.scaling == RopeScaling::linear ? o.factor : 1.0);
    if (o.scaling != RopeScaling::llama3) return divisors;
    for (std::size_t i = 0; i < half; ++i) {
        const double wavelength =
            2 * std::numbers::pi * portable::pow(a.rope_theta, static_cast<double>(i) / static_cast<double>(half));
        const double turns = static_cast<double>(o.original) / wavelength;  // in the first training's context
        const double kept = std::clamp((turns - o.low) / (o.high - o.low), 0.0, 1.0);
        divisors[i] = 1 / ((1 - kept) / o.factor + kept);
    }
    return divisors;
}

std::vector<double> rotary_rates(const Architecture& a) {
    std::vector<double> rates = inkling::rotary_rates(a.rotary_size(), a.rope_theta);
    const std::vector<double> divisors = rotary_divisors(a);
    for (std::size_t i = 0; i < rates.size(); ++i) rates[i] /= divisors[i];
    return rates;
}

template <class T>
RotaryTables<T> RotaryPositions<T>::tables(std::size_t start, std::size_t rows) {
    const std::lock_guard lock(mutex_);
    if (architecture_.positions != Positions::rotary) return {};
    const std::size_t end = start + rows, have = made_.global.defined() ? made_.global.dim(0) : 0;
    if (end > have) made_ = {architecture_, 0, std::max(end, std::min(2 * have, architecture_.block_size))};
    RotaryTables<T> part;
    part.global = made_.global.sliced(0, start, end);
    part.local = made_.local.sliced(0, start, end);
    return part;
}

template class RotaryPositions<float>;
template class RotaryPositions<double>;

}  // namespace inkling::models
