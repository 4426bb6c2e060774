// The moving average of all weights over the steps (Polyak and Juditsky 1992), which often predicts better than the
// last weights do. It is what is evaluated and saved; training goes on from the weights themselves.
//   average.update(updates);                       // after each step
//   { const Averaged scope(average); ... }          // the model holds the average in here
#pragma once

#include "nn/flat.h"

namespace inkling::train {

class WeightAverage {
  public:
    // decay 0: off, nothing is kept and the calls below do nothing.
    WeightAverage(nn::FlatParameters<float>& parameters, double decay);
    bool on() const { return decay_ > 0; }

    // e = d e + (1 - d) p,  d = min(decay, (1 + t) / (10 + t)): t, the updates made, keeps the start from lingering.
    void update(std::uint64_t updates);
    void start();  // again, from the weights as they are
    void swap();   // the weights with their average

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
