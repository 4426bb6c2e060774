// How fast this machine trains, measured.
#pragma once

#include <span>

#include "data/tokenizers/tokenizer.h"
#include "distributed/processes.h"
#include "engine/precision.h"
#include "models/transformer.h"
#include "train/options.h"

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
// The same with a model that is there; its adapters are as before in the end, and its weights are trained where they
// are not frozen.
double seconds_per_step(const TrainOptions& options, models::Transformer<float>& model,
                        const data::Tokenizer& tokenizer, data::TokenView tokens, double max_seconds,
                        distributed::Processes* processes = nullptr);

}  // namespace inkling::train
