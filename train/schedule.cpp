#include "train/schedule.h"

#include <cmath>
#include <numbers>

namespace inkling::train {

double Schedule::at(std::size_t step) const {
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
    if (kind == "constant") return peak;
    if (step >= decay_steps) return floor;
    const double done = static_cast<double>(step - warmup) / static_cast<double>(decay_steps - warmup);
    const double left = kind == "linear" ? 1 - done : 0.5 * (1 + std::cos(std::numbers::pi * done));
    return floor + left * (peak - floor);
}

}  // namespace inkling::train
