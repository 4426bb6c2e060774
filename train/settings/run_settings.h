// The settings of a run and their sources: flags, a file, the resumed run, a recipe, the model that it starts from.
//   RunSettings settings = resolve(given, find_resume(given));
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/tokenizers/tokenizer.h"
#include "models/transformer.h"
#include "train/recipes/recipes.h"
#include "train/settings/options.h"
#include "train/settings/settings.h"

namespace inkling::train {

// The request of --resume.
struct Resume {
    std::filesystem::path run;                      // the folder of the run; empty if unknown
    std::vector<std::filesystem::path> candidates;  // checkpoints, newest first; empty for a new run
};

struct RunSettings {
    TrainOptions options;
    const Recipe* recipe = nullptr;      // the starting point
    std::set<std::string> given, flags;  // names of settings: given by flags or --config; by flags
    bool from_file = false;              // --config is given
    bool force = false;                  // resumes with another text or other settings, too
    std::size_t processes = 1;           // that train together

    bool has(const std::string& flag) const { return flags.contains(flag); }

    bool fits_run() const { return recipe && recipe->fits_run; }
};

Resume find_resume(const RunSettings& given);

// Resolves the settings: flags over config file over recipe over default; a resumed run starts from its own. Throws
// WrongSetting for invalid values.
RunSettings resolve(RunSettings given, const Resume& resume);

// Chooses the tokenizer for a text of this many bytes, if the recipe fits the run.
void fit_tokenizer(std::size_t bytes, RunSettings& settings);

// Chooses model and batch for the text in `budget`, if the recipe fits the run; a `loaded` model keeps its shape.
// Without a time limit it reads no clock, so the same flags give the same run; with --max-flops they do on any machine.
// Returns the budget it used.
Budget fit_sizes(Budget budget, const models::Architecture* loaded, RunSettings& settings);

// Chooses the number of steps, from --max-flops or the recipe's plan, at most --max-iters, and the settings that a
// recipe derives from it.
void fit_steps(const Budget& budget, double seconds_per_step, const models::Architecture& architecture,
               RunSettings& settings);
void fit_to_steps(const Budget& budget, RunSettings& settings);

// The plan of a recipe.
struct FittedPlan {
    models::Architecture architecture;
    Budget budget;
    double seconds_per_step = 0;  // measured; 0 if no clock was read
};

// Does both: fits the sizes, and the number of steps by timing some on `tokens`. `loaded` is the model to start from,
// or null for a new one. Returns nothing if the recipe fits nothing.
std::optional<FittedPlan> fit_recipe(const data::Tokenizer& tokenizer, data::TokenView tokens, Budget budget,
                                     models::Transformer<float>* loaded, RunSettings& settings);

// A soft cap has no weights, so a given --softcap replaces that of the --init-from model.
void change_softcap(const RunSettings& settings, models::Architecture& config);

// Takes an adapter's settings from its folder. Throws WrongSetting for flags that contradict them; dropout may change.
void take_adapter(const models::AdapterOptions& adapter, RunSettings& settings);
// Throws WrongSetting for --lora-targets that the model does not have.
void check_targets(const models::Architecture& config, const TrainOptions& options);
// Adapters leave the weights of a quantized GGUF file in q8_0, unless --base-precision is given.
void fit_base_precision(const std::filesystem::path& base, RunSettings& settings);

// Takes the model's shape from its folder. Throws WrongSetting for flags that contradict it. Rows that the recipe chose
// (`chosen`) may be shorter than the context.
void take_shape(const models::Architecture& config, bool chosen, RunSettings& settings);

// Copies the settings with these names.
void copy_settings(const std::set<std::string>& names, TrainOptions& from, TrainOptions& to);

}  // namespace inkling::train
