#include "train/step/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/portable_math.h"

namespace inkling::train {

double Schedule::at(std::size_t step) const {
    std::size_t changed = 0;  // the step of the last change so far
    double before = 0;        // the rate just before it
    const auto rate = [&](std::size_t at, std::size_t steps) {
        const double now = planned(at, steps);
        const double way = std::max(1.0, (static_cast<double>(steps) - static_cast<double>(changed)) / 20);
        const double part = static_cast<double>(at - changed + 1) / way;
        return changed == 0 || part >= 1 ? now : before + part * (now - before);
    };
    for (const RunPlan::Change& change : changes) {
        if (step < change.step) return rate(step, change.steps_before);
        before = rate(change.step, change.steps_before);
        changed = change.step;
    }
    return rate(step, decay_steps);
}

double Schedule::planned(std::size_t step, std::size_t steps) const {
    if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
    if (kind == ScheduleKind::constant) return peak;
    if (step >= steps) return floor;
    std::size_t start = warmup;
    if (kind == ScheduleKind::wsd) {
        const auto last = static_cast<std::size_t>(std::llround(decay_fraction * static_cast<double>(steps)));
        start = std::max(warmup, steps - std::min(last, steps));
        if (step < start) return peak;
    }
    const double done = static_cast<double>(step - start) / static_cast<double>(steps - start);
    double left = 1 - done;
    if (kind == ScheduleKind::cosine) left = 0.5 * (1 + portable::cos(std::numbers::pi * done));
    if (kind == ScheduleKind::wsd) left = 1 - std::sqrt(done);
    return floor + left * (peak - floor);
}

Schedule schedule_of(const TrainOptions& o) {
    Schedule s{o.schedule, o.learning_rate, o.min_lr, o.warmup_iters, o.max_iters, o.decay_fraction, o.plan.changes};
    if (o.lr_decay_iters > 0) s.decay_steps = o.lr_decay_iters, s.changes = {};
    return s;
}

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
