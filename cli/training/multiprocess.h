// What `inkling train` needs when mpirun started several of it: that they are of one mind, and the text of the first
// one.
#pragma once

#include <string>

#include "cli/training/train_options.h"
#include "data/corpus.h"
#include "distributed/launch.h"

namespace inkling::cli {

// As set_threads(); the processes on this computer share its cores, when no number is named.
std::size_t set_threads_of(const distributed::Processes* processes, std::size_t threads);

// Throws Usage, on all, where one was started otherwise than the first, or found another checkpoint to go on from;
// BadInput, where it read another text.
void check_same_start(distributed::Processes& processes, const train::RunSettings& settings,
                      const train::Resume& resume);
void check_same_text(distributed::Processes& processes, const data::Corpus& corpus);

// The first process's corpus, to the others.
void broadcast(distributed::Processes& processes, data::Corpus& corpus);

// "4 processes on 2 computers"
std::string processes_text(const distributed::Processes& processes);

}  // namespace inkling::cli
