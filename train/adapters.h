// What the options of a run say of adapters (models/adapter.h), for a model of random weights that is tried before the
// run, which may be smaller than the run's own.
//   if (options.lora_rank > 0) adapt(options, adapted_parts(options, architecture), *model);
#pragma once

#include <set>

#include "models/transformer.h"
#include "train/options.h"

namespace inkling::train {

// The parts of an architecture that --lora-targets names; none without --lora-rank. Throws Error for a wrong name.
std::set<models::Part> adapted_parts(const TrainOptions& options, const models::Architecture& config);

// Weights kept in --base-precision, and adapters for those of these parts.
void adapt(const TrainOptions& options, const std::set<models::Part>& parts, models::Transformer<float>& model);

// Numbers that are trained: those of the adapters, or of the model.
double trained_count(const TrainOptions& options, const models::Architecture& config);
// Bytes of the model's own weights where they are frozen; 0 where they are trained.
double frozen_bytes(const TrainOptions& options, const models::Architecture& config);

}  // namespace inkling::train
