// One setup of a run, from its settings to a ready loop: text, tokenizer, model, tokens.
//   PreparedRun run{data::stories_corpus()};
//   prepare(settings, find_resume(settings), events, run);
//   run.loop->run(callbacks);
// A plan alone needs less: `train --dry-run` stops at open_tokenizer, and `verify` at make_dataset (data/dataset.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/dataset.h"
#include "models/files/folder.h"
#include "train/loop.h"
#include "train/settings/run_settings.h"

namespace inkling::train {

// What a setup tells: progress and choices.
struct SetupEvents {
    virtual ~SetupEvents() = default;
    virtual void note(const std::string&) {}
    virtual void warn(const std::string&) {}
    virtual void encoding(std::size_t, std::size_t) {}  // bytes done, of all
    virtual void planned(const TrainOptions&, const FittedPlan&) {}
};

// In the order in which it is made. The corpus is there before.
struct PreparedRun {
    data::Corpus corpus = {};
    models::LoadedModel loaded = {};
    data::Dataset text = {};
    std::unique_ptr<TrainingLoop> loop = nullptr;
    std::filesystem::path checkpoint = {};            // gone on from; empty: none
    std::vector<std::filesystem::path> damaged = {};  // newer than that
};

// The newest of the candidates that is whole, else a new model; the settings that the recipe chooses are fitted.
void prepare(RunSettings& settings, const Resume& resume, SetupEvents& events, PreparedRun& run);

// The tokenizer of a run that begins; recipes choose it for the text. `loaded` may have the model of --init-from with
// its own; without a model, --init-from is opened for its tokenizer alone. Where conversations are to be learned, it
// has the marks of ChatML. Returns whether they are new. With `learn` false, byte pairs that are yet to be learned are
// left out: loaded.tokenizer is null.
bool open_tokenizer(const data::Corpus& corpus, RunSettings& settings, models::LoadedModel& loaded, bool learn = true);

// What a recipe goes by: the size of the text, and what it is.
Budget budget_of(const data::Dataset& text);

// What becomes of characters that the tokenizer does not know: they are replaced and counted, or refused.
void take_unknown(data::Tokenizer& tokenizer, bool strict);

}  // namespace inkling::train
