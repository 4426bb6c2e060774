// Measures how fast this machine trains, and estimates how long a run takes.
#pragma once

#include <span>

#include "data/tokenizers/tokenizer.h"
#include "engine/base/precision.h"
#include "models/transformer.h"
#include "train/recipes/estimate.h"
#include "train/settings/options.h"

namespace inkling::train {

// The speed of the fastest of many products of a model's typical size, in 1e9 operations per second. With several
// processes, which measure at the same time, their total.
double product_gflops(Precision precision);

// The time of the fastest training step that a model makes in about `max_seconds`, at a learning rate of 0, so that it
// does not change. The fastest step counts because momentary load must not shorten the plan: that costs more than a
// plan that is a fifth too long, which the clock stops with averaged weights.
double seconds_per_step(const TrainOptions& options, models::Transformer<float>& model,
                        const data::Tokenizer& tokenizer, data::TokenView tokens, double max_seconds);

// Estimates the time of a run on a text of this many tokens, which --max-time may end: of its training steps; and with
// evaluations, samples and checkpoints, one per evaluation, because each may be the best.
struct PlannedSeconds {
    double training, all;
};
PlannedSeconds planned_seconds(const TrainOptions& options, const Estimate& sizes, double text_tokens,
                               double seconds_per_step);

}  // namespace inkling::train
