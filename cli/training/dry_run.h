// inkling train --dry-run
#pragma once

#include "cli/training/train_options.h"
#include "data/text/corpus.h"

namespace inkling::cli {

// Prints the plan of the run, its memory and its time with this number of threads. Writes no file. Returns the exit
// code.
int print_estimate(const TrainArguments& args, train::RunSettings settings, const data::Corpus& corpus,
                   std::size_t threads);

}  // namespace inkling::cli
