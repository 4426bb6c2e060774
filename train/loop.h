// The training loop: steps, and now and then an evaluation. What is to be printed, saved or written down of it is the
// matter of observers.
//   TrainingLoop loop(options, model, tokens);
//   loop.run({&metrics, &checkpoints});
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/split.h"
#include "train/checkpoint.h"
#include "train/metrics.h"
#include "train/observer.h"
#include "train/step.h"

namespace inkling::train {

// Several steps in a row were not finite. The last checkpoint is unharmed.
struct Diverged : Error {
    using Error::Error;
};

class TrainingLoop {
  public:
    // `tokens` is the whole text; it and all else must outlive the loop. Only --sampler paragraphs needs the tokenizer.
    // Throws BadInput when the text is too short.
    TrainingLoop(const TrainOptions& options, models::Transformer<float>& model, std::span<const std::int32_t> tokens,
                 const data::Tokenizer* tokenizer = nullptr, CombineGradients combine = nullptr);

    // Goes on from this state of a run, whose weights and optimizer the step already has (resume.h does both).
    void go_on_from(const TrainingState& state);

    // Trains to --max-iters or --max-time, or until `stop`, which is asked after each step and while evaluating.
    // Observers are told in their order. Throws Diverged.
    void run(const std::vector<Observer*>& observers = {}, const std::function<bool()>& stop = nullptr);

    double run_step();  // one step, told to nobody: returns its loss, and leaves the rest in metrics()

    bool finished() const;  // --max-iters or --max-time is reached
    bool log_due() const;   // of the last step: by --log-every, the first, the last, and those with an evaluation

    const TrainOptions& options() const { return options_; }
    models::Transformer<float>& model() { return model_; }
    const data::Split& text() const { return text_; }
    TrainingStep& step() { return *step_; }
    const TrainingState& state() const { return state_; }
    const Metrics& metrics() const { return metrics_; }  // of the last step
    double last_val_loss() const { return last_val_loss_; }

  private:
    void evaluate_now(const std::function<bool()>& stop);
    bool due(std::size_t every) const { return every > 0 && state_.step % every == 0; }

    const TrainOptions& options_;
    models::Transformer<float>& model_;
    data::Split text_;
    std::unique_ptr<data::Sampler> sampler_;
    std::unique_ptr<TrainingStep> step_;
    TrainingState state_;
    Metrics metrics_;
    double last_val_loss_ = std::numeric_limits<double>::quiet_NaN();
    std::size_t refused_in_a_row_ = 0, saved_step_ = static_cast<std::size_t>(-1);
};

}  // namespace inkling::train
