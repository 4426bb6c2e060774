// Sets up a run, from its settings to a ready loop: text, tokenizer, model, tokens.
//   PreparedRun run{data::stories_corpus()};
//   prepare(settings, find_resume(settings), events, run);
//   run.loop->run(callbacks);
// A plan needs less: `train --dry-run` stops after open_tokenizer, and `verify` after make_dataset (data/dataset.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/text/corpus.h"
#include "models/files/folder.h"
#include "train/loop.h"
#include "train/settings/run_settings.h"

namespace inkling::train {

// Receives the progress and the choices of a setup.
struct SetupEvents {
    virtual ~SetupEvents() = default;
    virtual void note(const std::string&) {}
    virtual void warn(const std::string&) {}
    virtual void encoding(std::size_t, std::size_t) {}  // bytes done, bytes in all
    virtual void planned(const TrainOptions&, const FittedPlan&) {}
};

// A text that several runs learn, one after the other.
struct TextOfRuns {
    data::Corpus corpus;
    data::DatasetsInMemory datasets = {};
};

// The parts, in the order in which prepare() makes them. The caller provides the corpus.
struct PreparedRun {
    data::Corpus corpus = {};
    data::DatasetsInMemory* datasets = nullptr;  // of the runs before, if several learn one text
    models::LoadedModel loaded = {};
    data::Dataset text = {};
    std::unique_ptr<TrainingLoop> loop = nullptr;
    std::filesystem::path checkpoint = {};            // resumed from; empty for a new run
    std::vector<std::filesystem::path> damaged = {};  // newer checkpoints that cannot be loaded
};

// Loads the newest intact candidate, else makes a new model, and fits the settings that the recipe chooses.
void prepare(RunSettings& settings, const Resume& resume, SetupEvents& events, PreparedRun& run);

// Opens the tokenizer of a new run into loaded.tokenizer; recipes choose it for the text. With --init-from it is that
// model's tokenizer, whether or not `loaded` holds the model; with --teacher, the first teacher's. To learn
// conversations, it gets ChatML's special tokens; returns whether they are new. With `learn` false, does not learn byte
// pairs, and loaded.tokenizer is null.
bool open_tokenizer(const data::Corpus& corpus, RunSettings& settings, models::LoadedModel& loaded, bool learn = true);

// The input of a recipe: size and kind of the text.
Budget budget_of(const data::Dataset& text);

// Makes the tokenizer refuse unknown characters if `strict`, else replace and count them.
void take_unknown(data::Tokenizer& tokenizer, bool strict);

}  // namespace inkling::train
