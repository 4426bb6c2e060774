// What `inkling train` was told: the flags, and --config.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "train/settings/run_settings.h"

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

// Reads --config, and the flags over it.
train::RunSettings read_given(const TrainArguments& args);

}  // namespace inkling::cli
