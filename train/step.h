// One step of training: batches, forward and backward over each of them, gradients combined across processes, clipped,
// and an update. It knows no tokenizer, prints nothing and saves nothing.
//   const auto sampler = data::make_sampler(options.sampler, tokens, options.batch_size, options.block_size, seed);
//   TrainingStep step(options, model, *sampler);
//   for (std::size_t i = 0; i < options.max_iters; ++i) losses.push_back(step.run(i).loss);
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "data/sampler.h"
#include "models/transformer.h"
#include "train/optimizers/optimizer.h"
#include "train/schedule.h"
#include "train/spikes.h"
#include "train/weight_average.h"

namespace inkling::train {

struct StepResult {
    double loss = 0;       // mean nats a token over the step's batches, before the update
    double grad_norm = 0;  // before clipping
    double learning_rate = 0;
    Spikes::Scores z;      // of loss and gradient norm, where both are finite
    bool skipped = false;  // as a spike
};

// Makes this process's mean gradient and loss those of all processes, with sums in an order that does not depend on how
// many there are. It is called once a step, also when a loss is not finite; no function: there is one process.
using CombineGradients = std::function<void(Array<float>& gradients, double& loss)>;

class TrainingStep {
  public:
    // All that is handed in must outlive the step.
    TrainingStep(const TrainOptions& options, models::Transformer<float>& model, const data::Sampler& sampler,
                 CombineGradients combine = nullptr);
    TrainingStep(const TrainingStep&) = delete;
    TrainingStep& operator=(const TrainingStep&) = delete;

    // Step `number`, 0 the first: its batches and dropout masks follow from this number and the seed. One whose loss or
    // gradient norm is not finite changes nothing, and neither does a spike that --skip-spikes asks to skip.
    StepResult run(std::size_t number);

    // Of a step that was not finite: where that began. Its batches are run once more, with a check after every op
    // (engine/anomaly.h): "block 3, attention: linear: the first value that is not finite is inf at (2, 7, 31) of ...".
    std::string find_anomaly(std::size_t number);

    nn::FlatParameters<float> parameters;
    std::unique_ptr<Optimizer<float>> optimizer;
    WeightAverage average;
    Spikes spikes;

  private:
    double add_gradients(std::size_t number);  // of a step's batches, to zeros; returns the loss

    const TrainOptions& options_;
    models::Transformer<float>& model_;
    const data::Sampler& sampler_;
    CombineGradients combine_;
    data::Batch batch_;
};

}  // namespace inkling::train
