// The flags of `inkling train` and its --config file.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "train/settings/run_settings.h"

namespace inkling::cli {

struct TrainArguments {
    train::TrainOptions given;  // the values of the flags that are given
    std::string recipe, config, serve, key_file;
    std::vector<std::string> allow_hosts;
    bool insecure = false, force = false, dry_run = false, json = false, quiet = false, broadcast_data = false;
    std::size_t processes = 1;    // the number that trains together
    std::set<std::string> flags;  // the names of those that are given

    bool has(const std::string& flag) const { return flags.contains(flag); }
};

// Adds all flags of `inkling train`, bound to `args`: the settings, and those of a single start.
std::vector<train::Setting> all_settings(TrainArguments& args);

// Reads flags, named without dashes, each with its values. Throws Usage.
TrainArguments train_arguments(const std::map<std::string, std::vector<std::string>>& flags);

// Reads --config and applies the flags over it.
train::RunSettings read_given(const TrainArguments& args);

}  // namespace inkling::cli
