// Callbacks observe a run: progress on a terminal, metrics.jsonl, checkpoints, samples, tests. The loop calls them at
// each event, and they read the rest from it.
//   struct Losses : Callback {
//       void step_done(TrainingLoop& loop) override { all.push_back(loop.metrics().loss); }
//       std::vector<double> all;
//   };
#pragma once

namespace inkling::train {

class TrainingLoop;

class Callback {
  public:
    virtual ~Callback() = default;
    virtual void step_refused(TrainingLoop&) {}  // loss or gradient was not finite; the step changed nothing
    virtual void spike(TrainingLoop&) {}         // loss or gradient norm is far above those before: metrics().z
    virtual void step_done(TrainingLoop&) {}     // after every step, refused or not; metrics() are complete
    virtual void evaluating(TrainingLoop&, double /*done*/) {}  // during an evaluation, done in [0, 1)
    virtual void evaluated(TrainingLoop&) {}          // metrics().val_loss is set; step 0 is before the first step
    virtual void replanned(TrainingLoop&) {}          // options().max_iters has changed
    virtual void checkpoint_wanted(TrainingLoop&) {}  // in the first process alone
    virtual void sample_wanted(TrainingLoop&) {}
    virtual void stopped(TrainingLoop&) {}  // at the end, or on request; not after an exception
};

}  // namespace inkling::train
