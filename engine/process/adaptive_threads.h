// As many threads as are fastest just now. While another program uses a processor, threads that wait for each other can
// be slower than one alone. Results do not depend on their number, so work that comes in pieces may change it:
//   while (more()) {
//       const AdaptiveThreads threads(Work::step);   // sets OpenMP's number of threads for the scope, and measures it
//       run_step();
//   }
// The number that was set before is the maximum. Inside a scope with a FixedThreads it stays as it is.
#pragma once

#include <cstddef>
#include <vector>

namespace inkling {

// Chooses a number of threads by how long work took with each. Now and then it tries fewer or more for a moment; but
// for those that check a new choice, they cost at most a hundredth of the time.
class ThreadChoice {
  public:
    explicit ThreadChoice(std::size_t max);

    std::size_t max() const { return counts_.front(); }
    std::size_t threads() const { return counts_[tried_]; }  // for the next piece of work
    void done(double work, double seconds);                  // with threads(); work in any unit

  private:
    bool clearly_slow() const;
    std::size_t neighbour() const;
    double expected_cost(std::size_t other) const;  // seconds that trying counts_[other] costs

    std::vector<std::size_t> counts_;  // from the maximum down to 1
    std::vector<double> pace_;         // seconds per work with each, when last measured; 0: never
    std::size_t chosen_ = 0, tried_ = 0;
    bool upward_ = false;            // the next try is of more threads
    bool doubtful_ = true;           // the choice is new: it is soon compared again, whatever that costs
    std::size_t blocks_ = 0;         // measured since the last try
    double allowance_ = 0;           // seconds that tries may cost
    double work_ = 0, seconds_ = 0;  // of the pieces in this block
};

// Each kind has its own choice, on each thread.
enum class Work { step, evaluation, prompt, token };

class AdaptiveThreads {
  public:
    explicit AdaptiveThreads(Work kind, double work = 1);
    ~AdaptiveThreads();
    AdaptiveThreads(const AdaptiveThreads&) = delete;
    AdaptiveThreads& operator=(const AdaptiveThreads&) = delete;

  private:
    ThreadChoice* choice_;  // null: the number is fixed
    double work_, start_;
};

class FixedThreads {
  public:
    FixedThreads() { ++depth(); }
    ~FixedThreads() { --depth(); }
    FixedThreads(const FixedThreads&) = delete;
    FixedThreads& operator=(const FixedThreads&) = delete;
    static bool active() { return depth() > 0; }

  private:
    static int& depth();
};

}  // namespace inkling
