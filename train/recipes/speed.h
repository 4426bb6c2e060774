// How fast this machine trains, measured, and how long a run takes.
#pragma once

#include <span>

#include "data/tokenizers/tokenizer.h"
#include "distributed/processes.h"
#include "engine/base/precision.h"
#include "models/transformer.h"
#include "train/recipes/estimate.h"
#include "train/settings/options.h"

namespace inkling::train {

// The best of many products of a size that models have, in 1e9 operations a second.
// Of several processes, measured at the same time: that of all.
double product_gflops(Precision precision, distributed::Processes* processes = nullptr);

// The fastest of the training steps with these options that a new model of this architecture, which is thrown away,
// makes in about `max_seconds`. What else the machine does for a moment should not make a plan short: that costs more
// than one that is a fifth too long, which the clock stops with averaged weights.
double seconds_per_step(const TrainOptions& options, const models::Architecture& architecture,
                        const data::Tokenizer& tokenizer, data::TokenView tokens, double max_seconds,
                        distributed::Processes* processes = nullptr);
// The same with a model that is there, at a learning rate of 0: it stays as it is.
double seconds_per_step(const TrainOptions& options, models::Transformer<float>& model,
                        const data::Tokenizer& tokenizer, data::TokenView tokens, double max_seconds,
                        distributed::Processes* processes = nullptr);

// Seconds: of a step, an evaluation, a checkpoint, a sample.
struct Costs {
    double step = 0, evaluation = 0, checkpoint = 0, sample = 0;
};
// Before a run has measured them; a token that is written takes as long as reading the weights does.
Costs estimated_costs(const TrainOptions& options, const Estimate& sizes, double val_tokens, double seconds_per_step);
// Of so many steps and all that comes on top, each evaluation with a checkpoint, because it may be the best.
double seconds_of(const TrainOptions& options, double steps, const Costs& costs);
// Of a whole run, which --max-time may end, on a text of so many tokens: its training steps, and all.
struct PlannedSeconds {
    double training, all;
};
PlannedSeconds planned_seconds(const TrainOptions& options, const Estimate& sizes, double text_tokens,
                               double seconds_per_step);

}  // namespace inkling::train
