// Applies a run's adapter options (models/adapter.h) to the model that it trains, and to the randomly initialised,
// possibly smaller model that is timed before the run.
//   LoadedModel loaded = load_base(models::base_of_adapter(folder), options);
//   if (options.lora_rank > 0) adapt(options, adapted_parts(options, architecture), *model);
#pragma once

#include <filesystem>
#include <set>

#include "models/files/folder.h"
#include "models/transformer.h"
#include "train/settings/options.h"

namespace inkling::train {

// Opens the model in this folder, with its weights in --base-precision.
models::LoadedModel load_base(const std::filesystem::path& folder, const TrainOptions& options);

// The parts of an architecture that --lora-targets names; empty without --lora-rank. Throws Error for a wrong name.
std::set<models::ParameterName> adapted_parts(const TrainOptions& options, const models::Architecture& config);

// Stores the weights in --base-precision, and adds adapters to these parts.
void adapt(const TrainOptions& options, const std::set<models::ParameterName>& parts,
           models::Transformer<float>& model);

// The number of trained elements: of the adapters, or of the model.
double trained_count(const TrainOptions& options, const models::Architecture& config);
// Bytes of the model's weights if they are frozen; 0 if they are trained.
double frozen_bytes(const TrainOptions& options, const models::Architecture& config);

}  // namespace inkling::train
