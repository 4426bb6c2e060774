// inkling train --dry-run
#pragma once

#include "data/text/corpus.h"
#include "train/settings/settings.h"

namespace inkling::cli {

// Prints the plan of the run, its memory and its time with this number of threads. Writes no file. Returns the exit
// code.
int print_estimate(train::Config config, const data::Corpus& corpus, std::size_t threads);

}  // namespace inkling::cli
