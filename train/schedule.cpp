#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace inkling::train {

double Schedule::at(std::size_t step) const {
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
    if (kind == ScheduleKind::constant) return peak;
    if (step >= decay_steps) return floor;
    std::size_t start = warmup;
    if (kind == ScheduleKind::wsd) {
        const auto last = static_cast<std::size_t>(std::llround(decay_fraction * static_cast<double>(decay_steps)));
        start = std::max(warmup, decay_steps - std::min(last, decay_steps));
        if (step < start) return peak;
    }
    const double done = static_cast<double>(step - start) / static_cast<double>(decay_steps - start);
    double left = 1 - done;
    if (kind == ScheduleKind::cosine) left = 0.5 * (1 + std::cos(std::numbers::pi * done));
    if (kind == ScheduleKind::wsd) left = 1 - std::sqrt(done);
    return floor + left * (peak - floor);
}

}  // namespace inkling::train
