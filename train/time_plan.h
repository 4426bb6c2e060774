// Plans and replans the number of steps of a run that --max-time ends, from the seconds that its steps take. It reads
// no clock.
//   TimePlan plan;
//   max_iters = plan.steps(step, train_s, max_time, max_iters);   // after each step
// A run uses at least 97% of its time if the speed of the machine varies between half and full.
#pragma once

#include <cstddef>
#include <vector>

namespace inkling::train {

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
