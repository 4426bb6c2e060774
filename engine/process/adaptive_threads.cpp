#include "engine/process/adaptive_threads.h"

#include <omp.h>

#include <algorithm>

#include "engine/base/clock.h"

namespace inkling {
namespace {

constexpr double kMeasuredSeconds = 0.02;  // seconds per measured block: several of the system's time slices
constexpr double kCost = 0.01;             // fraction of the time that tries may cost
constexpr double kBetter = 0.9;            // a try must take less than this fraction of the time
constexpr double kMuchSlower = 1.5;
constexpr double kWeight = 0.3;    // weight of the last block in the pace
constexpr std::size_t kDoubt = 3;  // blocks until a new choice is compared again
constexpr double kMinCost = 0.05;  // least fraction of a block that a try counts as
constexpr double kMaxSlower = 5;   // a block takes even longer if the program was stopped: that time is ignored

// This thread's choice for a kind of work.
ThreadChoice& choice_of(Work kind) {
    thread_local std::vector<ThreadChoice> choices(4, ThreadChoice(1));
    ThreadChoice& choice = choices[static_cast<std::size_t>(kind)];
    const auto max = static_cast<std::size_t>(omp_get_max_threads());
    if (choice.max() != max) choice = ThreadChoice(max);
    return choice;
}

}  // namespace

// Counts are the maximum, one fewer (another program takes one core), and halves.
ThreadChoice::ThreadChoice(std::size_t max) : counts_{max} {
    if (max > 1) counts_.push_back(max - 1);
    for (std::size_t n = max / 2; n > 0; n /= 2) {
        if (n < counts_.back()) counts_.push_back(n);
    }
    pace_.resize(counts_.size());
}

void ThreadChoice::done(double work, double seconds) {
    work_ += work;
    seconds_ += seconds;
    if (counts_.size() == 1 || (seconds_ < kMeasuredSeconds && !clearly_slow())) return;
    double& usual = pace_[chosen_];
    const double pace = usual > 0 ? std::min(seconds_ / work_, kMaxSlower * usual) : seconds_ / work_;
    if (tried_ == chosen_) {
        usual = blocks_ < 2 && doubtful_ ? pace : (1 - kWeight) * usual + kWeight * pace;
        allowance_ += kCost * pace * work_;
        ++blocks_;
        if ((doubtful_ && blocks_ >= kDoubt) || expected_cost(neighbour()) <= allowance_) tried_ = neighbour();
    } else {
        allowance_ -= std::max(0.0, pace - usual) * work_;
        pace_[tried_] = pace;
        doubtful_ = pace < kBetter * usual;
        upward_ = doubtful_ ? tried_ > chosen_ : !upward_;
        if (doubtful_) chosen_ = tried_;
        tried_ = chosen_;
        blocks_ = 0;
    }
    work_ = seconds_ = 0;
}

// A try that is far slower than usual is not worth a whole block.
bool ThreadChoice::clearly_slow() const {
    return tried_ != chosen_ && seconds_ > kMeasuredSeconds / 5 && seconds_ > kMuchSlower * pace_[chosen_] * work_;
}

std::size_t ThreadChoice::neighbour() const {
    const bool up = chosen_ + 1 == counts_.size() || (upward_ && chosen_ > 0);
    return up ? chosen_ - 1 : chosen_ + 1;
}

double ThreadChoice::expected_cost(std::size_t other) const {
    const double slower = pace_[other] == 0 ? 1 : pace_[other] / pace_[chosen_] - 1;
    return seconds_ * std::max(kMinCost, slower);
}

AdaptiveThreads::AdaptiveThreads(Work kind, double work)
    : choice_(FixedThreads::active() ? nullptr : &choice_of(kind)), work_(work), start_(seconds_now()) {
    if (choice_) omp_set_num_threads(static_cast<int>(choice_->threads()));
}

AdaptiveThreads::~AdaptiveThreads() {
    if (!choice_) return;
    choice_->done(work_, seconds_now() - start_);
    omp_set_num_threads(static_cast<int>(choice_->max()));
}

int& FixedThreads::depth() {
    thread_local int depth = 0;
    return depth;
}

}  // namespace inkling
