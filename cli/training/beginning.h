// What a run says before its first step: its size, its text, its adapters, where it goes on from.
#pragma once

#include "cli/training/progress.h"
#include "distributed/processes.h"
#include "train/setup.h"

namespace inkling::cli {

// `processes` that train together; null: one.
void tell_beginning(Report& report, const train::PreparedRun& run, const distributed::Processes* processes,
                    std::size_t threads);

}  // namespace inkling::cli
