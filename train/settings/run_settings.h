// The settings of a run, and where they come from: flags, a file, the run that goes on, a recipe, the model that it
// starts from.
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
#include "train/settings/settings.h"
#include "train/settings/wrong_setting.h"

namespace inkling::train {

// What --resume asks for.
struct Resume {
    std::filesystem::path run;                      // the folder of the run; empty: not known
    std::vector<std::filesystem::path> candidates;  // checkpoints to go on from, the newest first; none: start anew
};

struct RunSettings {
    TrainOptions options;
    const Recipe* recipe = nullptr;      // that they start from
    std::set<std::string> given, flags;  // names of settings: given by flags and --config; by flags
    bool from_file = false;              // --config is given
    bool force = false;                  // goes on from another text or other settings, too
    std::size_t processes = 1;           // that train together

    bool has(const std::string& flag) const { return flags.contains(flag); }

    bool fits_run() const { return recipe && recipe->fits_run; }
};

Resume find_resume(const RunSettings& given);

// Command line over config file over recipe over default; a resumed run starts from its own settings. Throws
// WrongSetting for values that make no sense.
RunSettings resolve(RunSettings given, const Resume& resume);

// The tokenizer of a recipe that fits the run, for a text of so many bytes.
void fit_tokenizer(std::size_t bytes, RunSettings& settings);

// Model and batch of a recipe that fits the run, for the text that `budget` tells of; the shape of a model that is
// `loaded` stays. Without a limit of time no clock is asked, so that the same flags give the same run; with --max-flops
// on any machine. Returns what it went by.
Budget fit_sizes(Budget budget, const models::Architecture* loaded, RunSettings& settings);

// How many steps: as many as --max-flops makes, or as a recipe plans; --max-iters is the most. And what a recipe
// derives from their number.
void fit_steps(const Budget& budget, double seconds_per_step, const models::Architecture& architecture,
               RunSettings& settings);
void fit_to_steps(const Budget& budget, RunSettings& settings);

// What a recipe has planned.
struct FittedPlan {
    models::Architecture architecture;
    Budget budget;
    double seconds_per_step = 0;  // measured; 0: no clock was asked
};

// That, and the number of steps, from trying some on `tokens`. `loaded`: the model to start from, null: a new one.
// Returns none when the recipe fits nothing.
std::optional<FittedPlan> fit_recipe(const data::Tokenizer& tokenizer, data::TokenView tokens, Budget budget,
                                     models::Transformer<float>* loaded, RunSettings& settings);

// A soft cap has no weights: a given --softcap is that of the model that --init-from names, from now on.
void change_softcap(const RunSettings& settings, models::Architecture& config);

// An adapter's settings are those of its folder; flags that say otherwise are a WrongSetting. Its dropout may change.
void take_adapter(const models::AdapterOptions& adapter, RunSettings& settings);
// --lora-targets that the model does not have are a WrongSetting.
void check_targets(const models::Architecture& config, const TrainOptions& options);

// The model's shape is the folder's; flags that say otherwise are a WrongSetting. Rows that are `chosen` may be shorter
// than its context.
void take_shape(const models::Architecture& config, bool chosen, RunSettings& settings);

// Copies the settings of these names.
void copy_settings(const std::set<std::string>& names, TrainOptions& from, TrainOptions& to);

}  // namespace inkling::train
