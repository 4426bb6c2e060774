// What a page about runs draws, as JSON, read from the folder of a run. A run may be going on meanwhile: what is being
// written is left out until it is whole.
//   const auto run = run_data("runs/mine");
//   const auto more = run_data("runs/mine", run["cursor"]);   // what has been added since
// Keys: name, folder, metrics (columns by key of metrics.jsonl, null where a step has none), samples, cursor, fresh (it
// is all there is); and, unless there is no new checkpoint since: settings, tokens_per_step, model, tokenizer, card
// (run.json), floor (nats per byte of the built-in stories), notes (what could not be read).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/tokenizers/tokenizer.h"

namespace inkling::web {

struct RunDataOptions {
    std::string cursor;             // "": from the beginning
    std::size_t max_points = 5000;  // of a longer run, evaluations and every so many steps
    bool tokenizer = true;          // with false, that is null: reading it takes longest
};

// Throws BadInput when there is no run. A file of it that is damaged is a note, not an error.
nlohmann::ordered_json run_data(const std::filesystem::path& run, const RunDataOptions& options = {});

// What run_data() has of a run beside its metrics and samples: settings and all that follow.
nlohmann::ordered_json run_facts(const std::filesystem::path& run, bool tokenizer = true);

// The settings that a run has when nothing else is said.
nlohmann::ordered_json default_settings();

// Sorts runs of run_data(): by the lowest validation loss, in bits per byte where all have them; those without one come
// last, by their last training loss.
void sort_best_first(std::vector<nlohmann::ordered_json>& runs);

// What the heads of a run are shown with when nobody says it: the beginning of what its samples say, at most 32 tokens;
// "": it has none.
std::string usual_prompt(const nlohmann::ordered_json& run, const data::Tokenizer& tokenizer, std::size_t context);

}  // namespace inkling::web
