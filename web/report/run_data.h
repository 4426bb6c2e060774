// The data of a run's page, as JSON, read from the run's folder. The run may still be training: incomplete lines are
// skipped until they are complete.
//   const auto run = run_data("runs/mine");
//   const auto more = run_data("runs/mine", run["cursor"]);   // what was added since
// Keys: name, folder, metrics (columns by key of metrics.jsonl, null where a step has none), samples, cursor, fresh
// (true: all of the run); and, if there is a new checkpoint: settings, tokens_per_step, model, tokenizer, card
// (run.json), replayed (stretches of `verify --replay`, [from, to]), floor (nats per byte of the built-in stories),
// notes (files that could not be read).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/files/folder.h"

namespace inkling::web {

struct RunDataOptions {
    std::string cursor;             // "": from the start
    std::size_t max_points = 5000;  // longer runs are thinned to evaluations and every nth step
    bool tokenizer = true;          // false: null, since reading it takes longest
};

// Throws BadInput if there is no run. A damaged file adds a note and is no error.
nlohmann::ordered_json run_data(const std::filesystem::path& run, const RunDataOptions& options = {});

// The part of run_data() without metrics and samples: settings and all that follow.
nlohmann::ordered_json run_facts(const std::filesystem::path& run, bool tokenizer = true);

// The data of kRunPage.
nlohmann::ordered_json run_page(const std::vector<nlohmann::ordered_json>& runs,
                                const nlohmann::ordered_json& heads = nullptr,
                                const nlohmann::ordered_json& live = nullptr);

// Sorts by the lowest validation loss, in bits per byte if all runs have them; runs without one come last, by their
// last training loss.
void sort_best_first(std::vector<nlohmann::ordered_json>& runs);

// The default prompt for a run's heads: the beginning of its samples, at most 32 tokens; "" without samples.
std::string usual_prompt(const nlohmann::ordered_json& run, const data::Tokenizer& tokenizer, std::size_t context);

// The heads of a run's model, for show_heads(): {"prompt", "heads"}. "" stands for usual_prompt(); without one, heads
// is null. Unknown characters are replaced.
nlohmann::ordered_json run_heads(const nlohmann::ordered_json& run, const models::LoadedModel& loaded,
                                 std::string prompt);

}  // namespace inkling::web
