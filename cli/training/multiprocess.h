// `inkling train` in several processes of mpirun: checks that all have the same settings, and shares the first one's
// text.
#pragma once

#include <string>

#include "data/text/corpus.h"
#include "distributed/launch.h"
#include "train/setup/resolve.h"

namespace inkling::cli {

// As set_threads(); without a number, the processes on this computer share its cores.
std::size_t set_threads_of(const distributed::Processes& processes, std::size_t threads);

// Throw in all processes if one differs from the first: Usage for other flags or another checkpoint, BadInput for
// another text.
void check_same_start(distributed::Processes& processes, const train::Config& config, const train::Resume& resume);
void check_same_text(distributed::Processes& processes, const data::Corpus& corpus);

// Sends the first process's corpus to the others.
void broadcast(distributed::Processes& processes, data::Corpus& corpus);

// "4 processes on 2 computers"
std::string processes_text(const distributed::Processes& processes);

}  // namespace inkling::cli
