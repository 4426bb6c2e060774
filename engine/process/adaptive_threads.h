// Picks the thread count that currently runs fastest. While another program uses a processor, threads that wait for
// each other can be slower than one. Results do not depend on the count, so it may change between pieces of work:
//   while (more()) {
//       const AdaptiveThreads threads(Work::step);   // sets OpenMP's thread count for the scope and times it
//       run_step();
//   }
// The count that was set before is the maximum. FixedThreads keeps it fixed for a scope.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/base/scoped_value.h"

namespace inkling {

// Chooses a thread count by the measured time per work. Now and then it tries fewer or more threads; except for
// checks of a new choice, tries cost at most a hundredth of the time.
class ThreadChoice {
  public:
    explicit ThreadChoice(std::size_t max);

    std::size_t max() const { return counts_.front(); }
    std::size_t threads() const { return counts_[tried_]; }  // for the next piece
    void done(double work, double seconds);                  // the time of work with threads(); work in any unit

  private:
    bool clearly_slow() const;
    std::size_t neighbour() const;
    double expected_cost(std::size_t other) const;  // seconds that a try of counts_[other] would cost

    std::vector<std::size_t> counts_;  // from the maximum down to 1
    std::vector<double> pace_;         // last measured seconds per work with each count; 0: never
    std::size_t chosen_ = 0, tried_ = 0;
    bool upward_ = false;            // the next try uses more threads
    bool doubtful_ = true;           // the choice is new and soon checked again, at any cost
    std::size_t blocks_ = 0;         // blocks measured since the last try
    double allowance_ = 0;           // seconds left for tries
    double work_ = 0, seconds_ = 0;  // sums over this block's pieces
};

// Each kind of work has its own choice, per thread.
enum class Work { step, evaluation, prompt, token };

class AdaptiveThreads {
  public:
    explicit AdaptiveThreads(Work kind, double work = 1);
    ~AdaptiveThreads();
    AdaptiveThreads(const AdaptiveThreads&) = delete;
    AdaptiveThreads& operator=(const AdaptiveThreads&) = delete;

  private:
    ThreadChoice* choice_;  // null: the count is fixed
    double work_, start_;
};

class FixedThreads {
  public:
    static bool active() { return depth() > 0; }

  private:
    static int& depth();
    ScopedValue<int> scope_{depth(), depth() + 1};
};

}  // namespace inkling
