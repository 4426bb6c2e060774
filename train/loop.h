// The training loop: steps, and evaluations between them. Callbacks print and save.
//   TrainingLoop loop(options, model, dataset);
//   loop.run({&metrics, &checkpoints});
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "data/packing.h"
#include "data/sampler.h"
#include "train/callback.h"
#include "train/run/checkpoint.h"
#include "train/run/metrics.h"
#include "train/step/schedule.h"
#include "train/step/step.h"

namespace inkling::train {

// Several steps in a row were not finite. The last checkpoint is intact.
struct Diverged : Error {
    using Error::Error;
};

class TrainingLoop {
  public:
    // The model and the tokenizer must outlive the loop. The last part of the dataset is for validation. With a
    // tokenizer, losses are given in bits per byte too; --sampler paragraphs needs one. Throws BadInput if the text is
    // too short.
    TrainingLoop(const TrainOptions& options, models::Transformer<float>& model, const data::Dataset& dataset,
                 const data::Tokenizer* tokenizer = nullptr, distributed::Processes& processes = distributed::alone());

    // Continues from this state; the step already has its weights and optimizer (resume.h does both).
    void go_on_from(const TrainingState& state);

    // Changes the end of the run from `planned` to `max_iters` steps, and the learning rate with it (schedule.h). Both
    // go into options() and so into config.toml, so that a resumed run repeats the change.
    void replan(std::size_t max_iters, std::size_t planned);

    // Trains until there is a stop_reason(), or `stop` returns true; it is called after each step and during
    // evaluations. Calls the callbacks in their order. Throws Diverged.
    void run(const std::vector<Callback*>& callbacks = {}, const std::function<bool()>& stop = nullptr);

    double run_step();  // one step without callbacks; returns its loss, the rest is in metrics()

    StopReason stop_reason() const;  // none: the run continues
    bool finished() const { return stop_reason() != StopReason::none; }
    // Whether some checkpoint has a validation loss. The best is that of state().best_step, which may be 0 with
    // --eval-on-start.
    bool has_best() const;
    bool log_due() const;  // for the last step: by --log-every, or the first, the last, or one with an evaluation or a
                           // checkpoint
    bool checkpoint_due() const { return checkpoint_due_; }  // after the last step
    const std::string& anomaly() const { return anomaly_; }  // the cause of the last refused step
    double seconds_left() const;  // at the speed so far, evaluations, samples and checkpoints included

    const TrainOptions& options() const { return options_; }
    models::Transformer<float>& model() { return model_; }
    const data::Split& text() const { return text_; }
    const data::PackedExamples* train_rows() const { return train_rows_.get(); }  // of examples; null for plain text
    const data::PackedExamples* val_rows() const { return val_rows_.get(); }
    TrainingStep& step() { return *step_; }
    Optimizer<float>& whole_optimizer() const { return *whole_optimizer_; }  // during Callback::checkpoint_wanted
    const TrainingState& state() const { return state_; }
    const Metrics& metrics() const { return metrics_; }                        // of the last step
    double bits_per_byte(double loss) const { return loss * bits_per_byte_; }  // NaN without a tokenizer
    double tokens_per_step() const;
    std::size_t eval_tokens() const;  // evaluated each time, always the same ones

  private:
    void split_examples();
    void evaluate_now(const std::vector<Callback*>& callbacks, const std::function<bool()>& stop);
    void check_plan(const std::vector<Callback*>& callbacks);
    void count_pause(double elapsed_s);
    double seconds_used() const { return state_.train_s + outside_s_ + longest_pause_; }
    bool due(std::size_t every) const { return every > 0 && state_.step % every == 0; }

    TrainOptions options_;
    models::Transformer<float>& model_;
    data::Dataset dataset_;
    data::Split text_;
    double bits_per_byte_ = std::numeric_limits<double>::quiet_NaN();  // of the validation part, for 1 nat per token
    std::unique_ptr<data::PackedExamples> train_rows_, val_rows_;      // of examples
    std::unique_ptr<data::Sampler> sampler_;
    std::unique_ptr<TrainingStep> step_;
    Optimizer<float>* whole_optimizer_ = nullptr;
    TrainingState state_;
    Metrics metrics_;
    std::string anomaly_;
    std::vector<std::size_t> save_at_;
    std::size_t refused_in_a_row_ = 0, saved_step_ = static_cast<std::size_t>(-1);
    bool asked_to_stop_ = false, checkpoint_due_ = false;
    TimePlan time_plan_;
    double outside_s_ = 0, longest_pause_ = 0;  // what evaluations, checkpoints and samples took, and the most between
                                                // two steps, which --max-time keeps free for the end
};

}  // namespace inkling::train
