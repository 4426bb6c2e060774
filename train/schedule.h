// The learning rate of each step.
#pragma once

#include <cstddef>

#include "train/settings/enums.h"
#include "train/settings/options.h"

namespace inkling::train {

struct Schedule {
    ScheduleKind kind = ScheduleKind::cosine;
    double peak = 1e-3, floor = 1e-4;
    std::size_t warmup = 100, decay_steps = 2000;
    double decay_fraction = 0.2;  // of decay_steps: the last part, in which wsd decays
    // A run that is planned again: before this step the decay was to take `planned_steps`.
    std::size_t replan_step = 0, planned_steps = 0;

    // Step 0 is the first. As nanoGPT: peak (step + 1) / (warmup + 1) while step < warmup; floor from decay_steps on;
    // between them from peak to floor along half a cosine or a line, or peak throughout. wsd (warm-up, stable, decay:
    // Hu et al. 2024) stays at peak and then falls as 1 - sqrt(part of the decay that is over) (Haegele et al. 2024).
    // From replan_step on, a twentieth of the steps left leads along a line from the old plan's rate to the new plan's.
    double at(std::size_t step) const;

  private:
    double planned(std::size_t step, std::size_t steps) const;  // by a plan of so many
};

Schedule schedule_of(const TrainOptions& options);

}  // namespace inkling::train
