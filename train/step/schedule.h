// The learning rate of each step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/settings/enums.h"
#include "train/settings/options.h"

namespace inkling::train {

struct Schedule {
    ScheduleKind kind = ScheduleKind::cosine;
    double peak = 1e-3, floor = 1e-4;
    std::size_t warmup = 100, decay_steps = 2000;
    double decay_fraction = 0.2;                    // the last part of decay_steps, in which wsd decays
    std::span<const RunPlan::Change> changes = {};  // earlier values of decay_steps; they outlive the schedule

    // The rate at `step`, counted from 0. As nanoGPT: peak (step + 1) / (warmup + 1) while step < warmup; floor from
    // decay_steps on; between them from peak to floor along half a cosine or a line, or constantly peak. wsd (warm-up,
    // stable, decay: Hu et al. 2024) stays at peak and then falls as 1 - sqrt(elapsed part of the decay) (Haegele et
    // al. 2024). After a change of plan, a twentieth of the remaining steps leads along a line from the old plan's rate
    // to the new.
    double at(std::size_t step) const;

  private:
    double planned(std::size_t step, std::size_t steps) const;  // the rate of a plan of `steps` steps
};

Schedule schedule_of(const TrainOptions& options);

// Plans and replans the number of steps of a run that --max-time ends, from the seconds that its steps take. It reads
// no clock.
//   TimePlan plan;
//   max_iters = plan.steps(step, train_s, max_time, max_iters);   // after each step
// A run uses at least 97% of its time if the speed of the machine varies between half and full.

class TimePlan {
  public:
    // The number of steps to plan after `step` steps in `seconds` of `max_time`; stays `planned` while that fits.
    std::size_t steps(std::size_t step, double seconds, double max_time, std::size_t planned);

  private:
    struct Mark {
        std::size_t step;
        double seconds;
    };
    std::vector<Mark> marks_;  // one for each fiftieth of the time
};

}  // namespace inkling::train
