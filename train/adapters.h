// Applies a run's adapter options (models/adapter.h) to the model that it trains, and to the randomly initialised,
// possibly smaller model that is timed before the run.
//   if (options.lora_rank > 0) adapt(options, adapted_parts(options, architecture), *model);
#pragma once

#include "models/transformer.h"
#include "train/settings/options.h"

namespace inkling::train {

// The parts of an architecture that --lora-targets names, also in one with fewer layers; none without --lora-rank.
// Throws Error for a wrong name.
models::ParameterFilter adapted_parts(const TrainOptions& options, const models::Architecture& config);

// Stores the weights in --base-precision, and adds adapters to these parts.
void adapt(const TrainOptions& options, const models::ParameterFilter& parts, models::Transformer<float>& model);

// The number of trained elements: of the adapters, or of the model.
double trained_count(const TrainOptions& options, const models::Architecture& config);
// Bytes of the model's weights if they are frozen; 0 if they are trained.
double frozen_bytes(const TrainOptions& options, const models::Architecture& config);

}  // namespace inkling::train
