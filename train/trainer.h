// The training loop: windows in, forward, backward, clip, update, and now and then an evaluation, a sample, a
// checkpoint.
//   Trainer trainer(options, model, tokenizer, tokens, report);
//   trainer.run(&folder);
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "data/sampler.h"
#include "data/tokenizers/tokenizer.h"
#include "train/changed_settings.h"
#include "train/checkpoint.h"
#include "train/optimizers/optimizer.h"
#include "train/options.h"
#include "train/report.h"
#include "train/run_folder.h"
#include "train/schedule.h"

namespace inkling::train {

// Several steps in a row were not finite. The last checkpoint is unharmed.
struct Diverged : Error {
    using Error::Error;
};

class Trainer {
  public:
    // `tokens` is the whole text; it and all else must outlive the trainer. Throws BadInput when it is too short.
    Trainer(const TrainOptions& options, models::Transformer<float>& model, const data::Tokenizer& tokenizer,
            std::span<const std::int32_t> tokens, Report& report);

    // Goes on from a checkpoint, whose weights the model already has. Throws BadInput when it is damaged, Mismatch when
    // it is of another text or of other settings; with `force`, those are a warning.
    void resume(const std::filesystem::path& checkpoint, bool force = false);

    // Trains to --max-iters or --max-time. When `stop` becomes true the step is finished and saved. Throws Diverged.
    // Without a folder nothing is saved.
    void run(RunFolder* folder = nullptr, const std::atomic<int>* stop = nullptr);

    // One step: returns its loss and leaves everything else in metrics(). A step whose loss or gradient is not finite
    // changes nothing.
    double step();

    const TrainingState& state() const { return state_; }
    const Metrics& metrics() const { return metrics_; }
    double last_val_loss() const { return last_val_loss_; }
    nn::FlatParameters<float>& parameters() { return parameters_; }

  private:
    void evaluate_now(const std::atomic<int>* stop);
    void save();
    void check_first_loss(double loss);
    void refuse_step(double loss, double norm);
    std::string sample_text();
    bool due(std::size_t every) const { return every > 0 && state_.step % every == 0; }

    const TrainOptions& options_;
    models::Transformer<float>& model_;
    const data::Tokenizer& tokenizer_;
    std::span<const std::int32_t> train_, val_;
    RunFolder* folder_ = nullptr;
    Report& report_;
    nn::FlatParameters<float> parameters_;
    std::unique_ptr<Optimizer<float>> optimizer_;
    WeightAverage average_;
    Schedule schedule_;
    std::unique_ptr<data::Sampler> sampler_;
    data::Batch batch_;
    TrainingState state_;
    Metrics metrics_;
    std::unique_ptr<MetricsFile> metrics_file_;
    double last_val_loss_ = std::numeric_limits<double>::quiet_NaN();
    std::size_t refused_in_a_row_ = 0, saved_step_ = static_cast<std::size_t>(-1);
};

}  // namespace inkling::train
