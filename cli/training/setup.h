// All that `inkling train` needs before its first step: text, tokenizer, model, tokens, and the loop.
//   Prepared run;
//   run.corpus = data::stories_corpus();
//   prepare(args, settings, report, resume, run);
//   run.loop->run(callbacks);
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "cli/training/progress.h"
#include "cli/training/train_options.h"
#include "data/corpus.h"
#include "data/encoded_corpus.h"
#include "models/files/folder.h"
#include "train/loop.h"

namespace inkling::cli {

// In the order in which it is made. The corpus is there before.
struct Prepared {
    data::Corpus corpus;
    models::LoadedModel loaded;
    data::EncodedCorpus tokens;
    std::optional<data::EncodedDocuments> documents;  // the tokens are these
    std::unique_ptr<train::TrainingLoop> loop;
    std::filesystem::path checkpoint;            // gone on from; empty: none
    std::vector<std::filesystem::path> damaged;  // newer than that
};

// The newest of the candidates that is whole, else a new model; the settings that the recipe chooses are fitted.
void prepare(const TrainArguments& args, Settings& settings, Report& report, const Resume& resume, Prepared& run);

// The tokenizer that the recipe chooses for a text.
void fit_tokenizer(const data::Corpus& corpus, Settings& settings);

}  // namespace inkling::cli
