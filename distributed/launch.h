// Detects whether mpirun started this program, and joins the processes that it started.
//   if (start_processes().first()) ...
#pragma once

#include "distributed/processes.h"

namespace inkling::distributed {

// The number of processes according to mpirun, or to srun with MPI; 1 if this process is alone or neither tells.
std::size_t launched_count();
std::size_t launched_rank();

// Loads MPI and joins the other processes; loads nothing if this process is alone. Throws Error.
Processes& start_processes();

// Ends MPI after all processes have finished. If MPI waits for a process that was just killed, this process exits with
// `code` after 3 seconds.
void finish_processes(int code);

}  // namespace inkling::distributed
