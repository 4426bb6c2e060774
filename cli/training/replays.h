// `inkling verify --replay`: trains stretches of a run again, and prints a line for each.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "train/proof/replay.h"

namespace inkling::cli {

struct ReplayFlags {
    std::string count = "";  // a number, or all
    std::optional<std::uint64_t> seed = {};
    train::MovedModels moved = {};

    std::size_t limit() const;  // throws Usage
};

// Prints a line: as JSON, or as text.
using SayLine = std::function<void(const nlohmann::ordered_json&, const std::string&)>;

struct ReplayCounts {
    std::size_t hold = 0, differ = 0, not_replayed = 0, lines = 0;
};

// Replays as many stretches as the flags say. Those that hold are noted in the run's replayed.jsonl. A signal ends it.
ReplayCounts replay_stretches(const std::vector<train::Stretch>& all, const ReplayFlags& flags, train::TextOfRuns& text,
                              const SayLine& say);

}  // namespace inkling::cli
