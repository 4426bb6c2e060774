// How fast this machine trains, measured.
#pragma once

#include <span>

#include "data/tokenizers/tokenizer.h"
#include "engine/precision.h"
#include "train/options.h"

namespace inkling::train {

// The best of many products of a size that models have, in 1e9 operations a second.
double product_gflops(Precision precision);

// Of the fastest training step with these options, among those of a model that is thrown away, for at most about
// `at_most` seconds. What else the machine does for a moment should not make a plan short: that costs more than one
// that is a fifth too long, which the clock stops with averaged weights.
double seconds_per_step(const TrainOptions& options, const data::Tokenizer& tokenizer,
                        std::span<const std::int32_t> tokens, double at_most);

}  // namespace inkling::train
