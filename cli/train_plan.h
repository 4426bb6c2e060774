// inkling train --dry-run
#pragma once

#include "data/corpus.h"
#include "train/options.h"

namespace inkling::cli {

// Prints what the run would take; `threads` are those that are set. Writes no file. Returns the exit code.
int print_plan(const train::TrainOptions& options, const data::Corpus& corpus, std::size_t threads);

}  // namespace inkling::cli
