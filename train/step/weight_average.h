// The moving average of all weights over the steps (Polyak and Juditsky 1992), which often predicts better than the
// last weights. Evaluations and checkpoints use it; training continues with the weights themselves.
//   average.update(updates);                       // after each step
//   { const Averaged scope(average); ... }          // the model holds the average in this scope
#pragma once

#include "nn/flat.h"

namespace inkling::train {

class WeightAverage {
  public:
    // decay 0 turns it off: it keeps nothing, and the calls below do nothing.
    WeightAverage(nn::FlatParameters<float>& parameters, double decay);
    bool on() const { return decay_ > 0; }

    // e = d e + (1 - d) p,  d = min(decay, (1 + t) / (10 + t)) after t updates, so that the start does not linger.
    void update(std::uint64_t updates);
    void start();  // restarts from the current weights
    void swap();   // exchanges the weights and their average

    // Laid out as the flat parameters: the average, or, after an odd number of swaps, the weights.
    Array<float> kept;

  private:
    nn::FlatParameters<float>& parameters_;
    double decay_;
};

// The model holds the average while in scope.
class Averaged {
  public:
    explicit Averaged(WeightAverage& average) : average_(average) { average_.swap(); }
    ~Averaged() { average_.swap(); }
    Averaged(const Averaged&) = delete;
    Averaged& operator=(const Averaged&) = delete;

  private:
    WeightAverage& average_;
};

}  // namespace inkling::train
