// Threads and settings for speed; results do not depend on them. A program sets them before it trains or generates:
//   set_threads(default_threads());
// kEnvironment holds settings that libraries read before main(), so the program must be started with them; `inkling`
// re-executes itself (cli/program.cpp).
// GOMP_SPINCOUNT: OpenMP's waiting threads spin for a millisecond and more by default. If other programs use the
// processors, spinning takes time from the thread that they wait for, and a step can take fifty times as long.
// GLIBC_TUNABLES: malloc caches more small blocks, since a step allocates and frees hundreds.
#pragma once

#include <cstddef>

namespace inkling {

// The cores that this process may use, by its affinity and the quotas of its control groups (docker run --cpus).
// Hyper-threads of a core share its multipliers and count once.
std::size_t physical_cores();

// The smallest of physical_cores(), OMP_NUM_THREADS and OMP_THREAD_LIMIT.
std::size_t default_threads();

// Sets OpenMP's number of threads, at least 1 and at most OMP_THREAD_LIMIT. Returns 0, or the errno if the system
// cannot start them (OpenMP would end the program): then the number is 1.
int set_threads(std::size_t threads);

struct EnvironmentVariable {
    const char *name, *value;
};
inline constexpr EnvironmentVariable kEnvironment[] = {{"GOMP_SPINCOUNT", "2000"},
                                                       {"GLIBC_TUNABLES", "glibc.malloc.tcache_count=2000"}};

}  // namespace inkling
