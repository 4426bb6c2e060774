// Whether mpirun started this program, and the processes that it started.
//   if (Processes* all = start_processes()) ...
#pragma once

#include "distributed/processes.h"

namespace inkling::distributed {

// How many processes mpirun, or srun with MPI, says that there are; 1: this one is alone, or nobody says.
std::size_t launched_count();
std::size_t launched_rank();

// Loads MPI and joins the others. Null when this process is alone: then nothing is loaded. Throws Error.
Processes* start_processes();

// All have come to the end, and this one is to return `code`: it does, even if another is killed just now, for which
// MPI would wait.
void finish_processes(int code);

}  // namespace inkling::distributed
