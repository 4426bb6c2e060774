// Prints the size of a run, its text, its adapters and the checkpoint that it continues, before the first step.
#pragma once

#include "cli/training/progress.h"
#include "train/setup/setup.h"

namespace inkling::cli {

void print_header(Report& report, const train::PreparedRun& run, std::size_t threads);

// Prints the plan of the run, its memory and its time with this number of threads (--dry-run). Writes no file. Returns
// the exit code.
int print_estimate(train::Config config, const data::Corpus& corpus, std::size_t threads);

}  // namespace inkling::cli
