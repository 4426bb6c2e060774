// Sets up a run, from its settings to a ready loop: text, tokenizer, model, tokens.
//   PreparedRun run{data::stories_corpus()};
//   prepare(config, resume, events, run);                                // after resolve() (resolve.h)
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
#include "train/recipes/fit.h"
#include "train/setup/resolve.h"

namespace inkling::train {

// Receives the progress and the choices of a setup.
struct SetupEvents {
    virtual ~SetupEvents() = default;
    virtual void note(const std::string&) {}
    virtual void warn(const std::string&) {}
    virtual void encoding(std::size_t, std::size_t) {}  // bytes done, bytes in all
    // What a recipe has chosen, with the measured time of a step, 0 if it read no clock.
    virtual void planned(const TrainOptions&, const models::Architecture&, double /*text_tokens*/,
                         double /*seconds_per_step*/) {}
};

// A text that several runs train on, one after the other.
struct TextOfRuns {
    data::Corpus corpus;
    data::DatasetsInMemory datasets = {};
};

// The parts, in the order in which prepare() makes them. The caller provides the corpus.
struct PreparedRun {
    data::Corpus corpus = {};
    data::DatasetsInMemory* datasets = nullptr;  // from earlier runs, if several train on one text
    models::LoadedModel loaded = {};
    data::Dataset text = {};
    std::unique_ptr<TrainingLoop> loop = nullptr;
    std::filesystem::path checkpoint = {};            // resumed from; empty for a new run
    std::vector<std::filesystem::path> damaged = {};  // newer checkpoints that cannot be loaded
};

// The text of --data, else the built-in stories.
data::Corpus read_text(const TrainOptions& options);

// Opens the tokenizer of a new run into loaded.tokenizer; recipes choose it for the text. With --init-from it is that
// model's tokenizer, whether or not `loaded` holds the model; with --teacher, the first teacher's. To learn
// conversations, it gets ChatML's special tokens; returns whether they are new. With `learn` false, does not learn byte
// pairs, and loaded.tokenizer is null. Throws BadInput if the file that --tokenizer names does not exist.
bool open_tokenizer(const data::Corpus& corpus, Config& config, models::LoadedModel& loaded, bool learn = true);

// Loads the newest intact candidate, else makes a new model, and fits the settings that the recipe chooses.
void prepare(Config& config, const Resume& resume, SetupEvents& events, PreparedRun& run);

// The input of a recipe: size and kind of the text.
Budget budget_of(const data::Dataset& text);

}  // namespace inkling::train
