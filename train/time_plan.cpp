#include "train/time_plan.h"

#include <algorithm>
#include <cmath>

namespace inkling::train {

// The speed of the last s seconds forecasts the next s seconds. A plan ends a tenth of the remaining time beyond
// max_time, because a run that the clock stops costs less than one that ends early. It stays while its forecast end
// lies between max_time and twice that far beyond. So a steady machine replans a few times, ever closer to the end.
std::size_t TimePlan::steps(std::size_t step, double seconds, double max_time, std::size_t planned) {
    constexpr double kEvery = 0.02, kBeyond = 0.1;
    if (!marks_.empty() && seconds - marks_.back().seconds < kEvery * max_time) return planned;
    if (marks_.empty() && seconds < kEvery * max_time) return planned;  // the first steps create buffers
    const double left = max_time - seconds;
    const auto newer =
        std::find_if(marks_.begin(), marks_.end(), [&](const Mark& mark) { return mark.seconds > seconds - left; });
    const Mark from = marks_.empty() ? Mark{} : newer == marks_.begin() ? marks_.front() : *(newer - 1);
    marks_.push_back({step, seconds});
    if (from.seconds == 0 || left <= 0) return planned;
    const double speed = static_cast<double>(step - from.step) / (seconds - from.seconds);
    const double fits = speed * left, rest = static_cast<double>(planned) - static_cast<double>(step);
    if (rest >= fits && rest <= (1 + 2 * kBeyond) * fits) return planned;
    return step + std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil((1 + kBeyond) * fits)));
}

}  // namespace inkling::train
