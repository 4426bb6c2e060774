// One step of training: batches, forward and backward over each of them, gradients combined across processes, clipped,
// and an update. It knows no tokenizer, prints nothing and saves nothing.
//   const std::size_t rows = options.rows_per_shard();
//   const auto sampler = data::make_sampler(options.sampler, tokens, rows, options.block_size, seed);
//   TrainingStep step(options, model, *sampler);
//   for (std::size_t i = 0; i < options.max_iters; ++i) losses.push_back(step.run(i).loss);
// With --shards S a step's rows are cut into S equal parts. What part i computes depends on (seed, step, i) alone, and
// the gradient is the sum of the parts' as a balanced tree (tree_sum.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "data/sampler.h"
#include "distributed/processes.h"
#include "models/transformer.h"
#include "train/optimizers/optimizer.h"
#include "train/schedule.h"
#include "train/sharding/pairwise_sum.h"
#include "train/sharding/reduce_scatter.h"
#include "train/spikes.h"
#include "train/weight_average.h"

namespace inkling::train {

struct StepResult {
    double loss = 0;       // mean nats a token over the step's batches, before the update
    double grad_norm = 0;  // before clipping
    double learning_rate = 0;
    Spikes::Scores z;      // of loss and gradient norm, where both are finite
    bool skipped = false;  // as a spike
    double seconds = 0;    // that the step took; of several processes, from the last step's exchange to this one's
};

class TrainingStep {
  public:
    // All that is handed in must outlive the step. The rows of the sampler's batches are those of a part. With several
    // processes, whose number divides that of the parts, each computes some of the parts and updates some of the
    // parameters (exchange.h): all hold the same parameters, to the same bits, as one process would.
    TrainingStep(const TrainOptions& options, models::Transformer<float>& model, const data::Sampler& sampler,
                 distributed::Processes* processes = nullptr);
    TrainingStep(const TrainingStep&) = delete;
    TrainingStep& operator=(const TrainingStep&) = delete;

    // Step `number`, 0 the first: its batches and dropout masks follow from this number and the seed. One whose loss or
    // gradient norm is not finite changes nothing, and neither does a spike that --skip-spikes asks to skip.
    StepResult run(std::size_t number);

    // Of a step that was not finite: where that began. Its batches are run once more, with a check after every op
    // (engine/autograd/anomaly.h): "layer 3, attention: linear: the first value that is not finite is inf at (2, 7, 31)
    // of ...".
    std::string find_anomaly(std::size_t number);

    // Whether this process is asked to stop, told to the others in each step; and whether one of them was then.
    std::function<bool()> asked_to_stop;
    bool told_to_stop = false;

    // All of the optimizer's state: the first process gets it from the others, which get null. And back.
    std::unique_ptr<Optimizer<float>> whole_optimizer();
    void take_state(Optimizer<float>& whole) { copy_state(whole, *optimizer); }
    distributed::Processes* processes() const { return processes_; }  // null: this one is alone

    nn::FlatParameters<float> parameters;
    std::unique_ptr<Optimizer<float>> optimizer;
    WeightAverage average;
    Spikes spikes;

  private:
    void add_gradients(std::size_t number, std::vector<double>& losses);  // of its parts, one loss each
    double add_part(std::size_t number, std::size_t part, std::size_t targets, bool last);
    void update(StepResult& result);
    std::string find_own_anomaly(std::size_t number);
    void combine(const std::vector<double>& own_losses, StepResult& result);
    std::size_t own_parts() const { return options_.shards / count_of(processes_); }

    const TrainOptions& options_;
    models::Transformer<float>& model_;
    const data::Sampler& sampler_;
    distributed::Processes* processes_;
    std::optional<Partition> ownership_;
    std::unique_ptr<Exchange> exchange_;
    bool exchanging_ = false;
    data::Batch batch_;
    PairwiseSum sum_;
    double timed_from_ = 0, untold_seconds_ = 0;  // of the step before, after its exchange
};

}  // namespace inkling::train
