// What a program sets before it trains or generates text. Results do not depend on any of it; speed does.
//   set_threads(default_threads());
// kEnvironment holds two more settings, which libraries read before main() begins: a program must be started with them.
// `inkling` executes itself again with them (cli/program.cpp).
// OpenMP's threads spin while they wait for each other, by default for a millisecond and more. If other programs use
// the processors too, the spinning takes time from the very thread that is waited for, and a step can take fifty times
// as long; a short spin avoids that. And malloc caches more small blocks: a step makes and frees hundreds.
#pragma once

#include <cstddef>

namespace inkling {

// The cores that this process may use, as its processors and the quotas of its control groups (docker run --cpus)
// allow. Hyper-threads of one core share its multipliers, so they count once.
std::size_t physical_cores();

// Those, or fewer where OMP_NUM_THREADS or OMP_THREAD_LIMIT is less.
std::size_t default_threads();

// OpenMP's number of threads from here on; at least 1, at most OMP_THREAD_LIMIT. Returns 0, or the errno with which the
// system refuses to start so many, for which OpenMP would end the program: then it is 1.
int set_threads(std::size_t threads);

struct EnvironmentVariable {
    const char *name, *value;
};
inline constexpr EnvironmentVariable kEnvironment[] = {{"GOMP_SPINCOUNT", "2000"},
                                                       {"GLIBC_TUNABLES", "glibc.malloc.tcache_count=2000"}};

}  // namespace inkling
