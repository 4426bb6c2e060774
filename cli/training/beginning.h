// Prints the size of a run, its text, its adapters and the checkpoint that it continues, before the first step.
#pragma once

#include "cli/training/progress.h"
#include "distributed/processes.h"
#include "train/setup.h"

namespace inkling::cli {

// `processes`: those that train together; null for one.
void tell_beginning(Report& report, const train::PreparedRun& run, const distributed::Processes* processes,
                    std::size_t threads);

}  // namespace inkling::cli
