#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/portable_math.h"

namespace inkling::train {

double Schedule::at(std::size_t step) const {
    if (replan_step == 0 || planned_steps == decay_steps) return planned(step, decay_steps);
    if (step < replan_step) return planned(step, planned_steps);
    const double steps = std::max(1.0, (static_cast<double>(decay_steps) - static_cast<double>(replan_step)) / 20);
    const double part = static_cast<double>(step - replan_step + 1) / steps, rate = planned(step, decay_steps);
    if (part >= 1) return rate;
    const double before = planned(replan_step, planned_steps);
    return before + part * (rate - before);
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
    const auto decay = [&](std::size_t iters) { return o.lr_decay_iters ? o.lr_decay_iters : iters; };
    return {.kind = o.schedule,
            .peak = o.learning_rate,
            .floor = o.min_lr,
            .warmup = o.warmup_iters,
            .decay_steps = decay(o.max_iters),
            .decay_fraction = o.decay_fraction,
            .replan_step = o.plan.changed_at,
            .planned_steps = decay(o.plan.steps_before)};
}

}  // namespace inkling::train
