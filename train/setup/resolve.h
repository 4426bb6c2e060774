// The settings of a run, from flags, a file, the resumed run, a recipe, and the model that it starts from.
//   const Resume resume = find_resume(given.options);
//   Config config = resolve(given, resume);
#pragma once

#include <filesystem>
#include <vector>

#include "models/adapter.h"
#include "models/architecture.h"
#include "train/settings/settings.h"

namespace inkling::train {

// The request of --resume.
struct Resume {
    std::filesystem::path run;                      // the folder of the run; empty if unknown
    std::vector<std::filesystem::path> candidates;  // checkpoints, newest first; empty for a new run
};

Resume find_resume(const TrainOptions& given);

// Resolves the settings: flags over config file over recipe over default; a resumed run starts from its own. Throws
// WrongSetting for invalid values.
Config resolve(Config given, const Resume& resume);

// A soft cap has no weights, so a given --softcap replaces that of the --init-from model.
void change_softcap(const Config& config, models::Architecture& model);

// Takes an adapter's settings from its folder. Throws WrongSetting for flags that contradict them; dropout may change.
void take_adapter(const models::AdapterOptions& adapter, Config& config);
// Throws WrongSetting for --lora-targets that the model does not have.
void check_targets(const models::Architecture& model, const TrainOptions& options);
// Adapters leave the weights of a quantized GGUF file as they are, unless --base-precision is given.
void fit_base_precision(const std::filesystem::path& base, Config& config);

// Takes the model's shape from its folder. Throws WrongSetting for flags that contradict it. Rows that the recipe chose
// (`chosen`) may be shorter than the context.
void take_shape(const models::Architecture& model, bool chosen, Config& config);

}  // namespace inkling::train
