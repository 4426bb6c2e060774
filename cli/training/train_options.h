// What `inkling train` was told: the flags, and where the settings come from that no flag gives.
#pragma once

#include <set>
#include <span>

#include "cli/common.h"
#include "data/tokenizers/tokenizer.h"
#include "models/transformer.h"
#include "train/options.h"
#include "train/recipes/recipes.h"
#include "train/settings.h"

namespace inkling::cli {

struct TrainArguments {
    train::TrainOptions given;  // what the flags say, where they are given
    std::string recipe, config, serve;
    std::vector<std::string> allow_hosts;
    bool force = false, dry_run = false, json = false, quiet = false, broadcast_data = false;
    std::size_t processes = 1;    // that train together
    std::set<std::string> flags;  // that are given

    bool has(const std::string& flag) const { return flags.contains(flag); }
};

// All that `inkling train` can be told, bound to `args`: the settings, and what belongs to one start alone.
std::vector<train::Setting> all_settings(TrainArguments& args);

// What --resume asks for.
struct Resume {
    std::filesystem::path run;                      // the folder of the run; empty: not known
    std::vector<std::filesystem::path> candidates;  // checkpoints to go on from, the newest first; none: start anew
};

struct Settings {
    train::TrainOptions options;
    const train::Recipe* recipe = nullptr;  // that they start from
    std::set<std::string> given;            // names of flags and of keys of --config

    bool fits_run() const { return recipe && recipe->fits_run; }
};

// Reads --config, and the flags over it.
Settings read_given(const TrainArguments& args);
Resume find_resume(const Settings& given);

// Command line over config file over recipe over default; a resumed run starts from its own settings. Throws Usage for
// values that make no sense.
Settings resolve(const TrainArguments& args, Settings given, const Resume& resume);

// The tokenizer of a recipe that fits the run, for a text of so many bytes.
void fit_tokenizer(std::size_t bytes, Settings& settings);

// Model and batch of a recipe that fits the run, for the text that `budget` tells of; the shape of a model that is
// `loaded` stays. Without a limit of time no clock is asked, so that the same flags give the same run. Returns what it
// went by.
train::Budget fit_sizes(train::Budget budget, const models::Architecture* loaded, Settings& settings);

// How many steps the recipe plans, and what follows from their number.
std::size_t planned_steps(const train::Budget& budget, double seconds_per_step, const Settings& settings);
void fit_to_steps(const train::Budget& budget, Settings& settings);

// That, and the number of steps, from trying some on `tokens`. `loaded`: the model to start from, null: a new one.
// Returns what was chosen, for the user; "" when the recipe is another.
std::string fit_recipe(const data::Tokenizer& tokenizer, data::TokenView tokens, train::Budget budget,
                       models::Transformer<float>* loaded, Settings& settings);

// A soft cap has no weights: a given --softcap is that of the model that --init-from names, from now on.
void change_softcap(const Settings& settings, models::Architecture& config);

// An adapter's settings are those of its folder; flags that say otherwise are Usage. Its dropout may change.
void take_adapter(const TrainArguments& args, const models::AdapterOptions& adapter, train::TrainOptions& options);
// --lora-targets that the model does not have are Usage.
void check_targets(const models::Architecture& config, const train::TrainOptions& options);

// The model's shape is the folder's; flags that say otherwise are Usage. Rows that are `chosen` may be shorter than its
// context.
void take_shape(const TrainArguments& args, const models::Architecture& config, bool chosen,
                train::TrainOptions& options);

}  // namespace inkling::cli
