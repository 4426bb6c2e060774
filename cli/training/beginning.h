// Prints the size of a run, its text, its adapters and the checkpoint that it continues, before the first step.
#pragma once

#include <string>

#include "cli/training/progress.h"
#include "train/callbacks.h"
#include "train/loop.h"
#include "train/run/run_card.h"
#include "train/setup/setup.h"

namespace inkling::cli {

void print_header(Report& report, const train::PreparedRun& run, std::size_t threads);

// Prints the plan of the run, its memory and its time with this number of threads (--dry-run). Writes no file. Returns
// the exit code.
int print_estimate(train::Config config, const data::Corpus& corpus, std::size_t threads);

// Prints the end of a run: its best loss, why it stopped, a sample of the best model, and the next command.
// `seconds`: wall clock of the command. `sha256`: of the weights of the newest checkpoint. The best model of the run
// writes the sample.
void print_summary(Report& report, train::TrainingLoop& loop, const data::Tokenizer& tokenizer,
                   const train::RunCard& card, double seconds, const std::string& sha256,
                   const train::SampleWriter::Take& take_sample);

}  // namespace inkling::cli
