// One step of training: runs forward and backward over its batches, combines the gradients of all processes, clips
// them, and updates. It knows no tokenizer, prints nothing and saves nothing.
//   const std::size_t rows = options.rows_per_shard();
//   const auto sampler = data::make_sampler(options.sampler, tokens, rows, options.block_size, seed);
//   TrainingStep step(options, model, *sampler);
//   for (std::size_t i = 0; i < options.max_iters; ++i) losses.push_back(step.run(i).loss);
// With --shards S, a step's rows are cut into S equal parts. The result of part i depends only on (seed, step, i), and
// the gradient is the sum over the parts as a balanced tree (sharding/pairwise_sum.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "data/sampler.h"
#include "distributed/processes.h"
#include "models/transformer.h"
#include "train/optimizers/optimizer.h"
#include "train/sharding/pairwise_sum.h"
#include "train/sharding/reduce_scatter.h"
#include "train/step/schedule.h"
#include "train/step/spikes.h"
#include "train/step/teachers.h"
#include "train/step/weight_average.h"

namespace inkling::train {

struct StepResult {
    double loss = 0;       // mean nats per token over the step's batches, before the update
    double grad_norm = 0;  // before clipping
    double lr = 0;
    Spikes::Scores z;      // of loss and gradient norm, if both are finite
    bool skipped = false;  // as a spike
    double seconds = 0;    // of the step; with several processes, from the last step's exchange to this one's
};

class TrainingStep {
  public:
    // All arguments must outlive the step. A batch of the sampler has the rows of one part. With several processes,
    // whose number divides that of the parts, each computes some of the parts and updates some of the parameters
    // (sharding/reduce_scatter.h). All then hold the same parameters, to the last bit, as one process would.
    TrainingStep(const TrainOptions& options, models::Transformer<float>& model, const data::Sampler& sampler,
                 distributed::Processes& processes = distributed::alone());
    TrainingStep(const TrainingStep&) = delete;
    TrainingStep& operator=(const TrainingStep&) = delete;

    // Runs step `number`, counted from 0, which with the seed determines batches and dropout masks. A step whose loss
    // or gradient norm is not finite changes nothing, and neither does a spike that --skip-spikes skips.
    StepResult run(std::size_t number);

    // Finds where a step stopped being finite: runs its batches again, with a check after every op
    // (engine/autograd/debug/anomaly.h). Returns "layer 3, attention: linear: the first value that is not finite is inf
    // at (2, 7, 31) of ...".
    std::string find_anomaly(std::size_t number);

    // asked_to_stop: whether this process is asked to stop; each step tells the others. stop_requested: whether any
    // process was asked.
    std::function<bool()> asked_to_stop;
    bool stop_requested = false;

    // Calls save() with the whole optimizer, gathered in the first process; load() with one that takes all state.
    using WithOptimizer = std::function<void(Optimizer<float>&)>;
    void save_optimizer(const WithOptimizer& save);
    void load_optimizer(const WithOptimizer& load);
    distributed::Processes& processes() const { return processes_; }

    nn::FlatParameters<float> parameters;
    std::unique_ptr<Optimizer<float>> optimizer;
    WeightAverage average;
    const Teachers teachers;
    Spikes spikes;

  private:
    void add_gradients(std::size_t number, std::vector<double>& losses);  // of this process's parts, with their losses
    double add_part(std::size_t number, std::size_t part, std::size_t targets, bool last);
    void update(StepResult& result);
    std::string find_own_anomaly(std::size_t number);
    void combine(const std::vector<double>& own_losses, StepResult& result);
    std::size_t own_parts() const { return options_.shards / processes_.count; }

    const TrainOptions& options_;
    models::Transformer<float>& model_;
    const data::Sampler& sampler_;
    distributed::Processes& processes_;
    std::optional<Partition> ownership_;
    std::unique_ptr<Exchange> exchange_;
    bool exchanging_ = false;  // not while a step is repeated to find an anomaly
    data::Batch batch_;
    PairwiseSum sum_;
    double timed_from_ = 0, untold_seconds_ = 0;  // the previous step's time after its exchange
};

}  // namespace inkling::train
