// Those who look on while a run learns: progress on a terminal, metrics.jsonl, checkpoints, samples, tests. The loop
// tells them what happened, and they read the rest from it.
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
    virtual void step_refused(TrainingLoop&) {}  // its loss or gradient was not finite: it changed nothing
    virtual void spike(TrainingLoop&) {}         // its loss or gradient norm is far above those before: metrics().z
    virtual void step_done(TrainingLoop&) {}     // every step, refused ones too; metrics() are complete
    virtual void evaluating(TrainingLoop&, double /*done*/) {}  // now and then, done in [0, 1)
    virtual void evaluated(TrainingLoop&) {}  // metrics().val_loss is there; step 0: before the first step
    virtual void replanned(TrainingLoop&) {}  // options().max_iters has changed
    virtual void checkpoint_wanted(TrainingLoop&) {}
    virtual void sample_wanted(TrainingLoop&) {}
    virtual void stopped(TrainingLoop&) {}  // at the end, or because it was asked to; not when it throws
};

}  // namespace inkling::train
