// What the options of a run say of adapters (models/adapter.h): for the model that they are for, and for one of random
// weights that is tried before the run, which may be smaller.
//   LoadedModel loaded = load_base(models::base_of_adapter(folder), options);
//   if (options.lora_rank > 0) adapt(options, adapted_parts(options, architecture), *model);
#pragma once

#include <filesystem>
#include <set>

#include "models/files/folder.h"
#include "models/transformer.h"
#include "train/settings/options.h"

namespace inkling::train {

// The model in this folder, its weights in --base-precision.
models::LoadedModel load_base(const std::filesystem::path& folder, const TrainOptions& options);

// The parts of an architecture that --lora-targets names; none without --lora-rank. Throws Error for a wrong name.
std::set<models::Part> adapted_parts(const TrainOptions& options, const models::Architecture& config);

// Weights kept in --base-precision, and adapters for those of these parts.
void adapt(const TrainOptions& options, const std::set<models::Part>& parts, models::Transformer<float>& model);

// Numbers that are trained: those of the adapters, or of the model.
double trained_count(const TrainOptions& options, const models::Architecture& config);
// Bytes of the model's own weights where they are frozen; 0 where they are trained.
double frozen_bytes(const TrainOptions& options, const models::Architecture& config);

}  // namespace inkling::train
