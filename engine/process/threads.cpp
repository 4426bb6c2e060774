#include "engine/process/threads.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/process/control_groups.h"

namespace inkling {
namespace {

const auto kAsked = static_cast<std::size_t>(omp_get_max_threads());  // OMP_NUM_THREADS, else all processors

// OMP_THREAD_LIMIT, else a huge number.
std::size_t thread_limit() { return static_cast<std::size_t>(omp_get_thread_limit()); }

// Starts n threads at the same time, and ends them. Returns 0, or the errno of a thread that could not start, in which
// case OpenMP would end the program.
int try_threads(std::size_t n) {
    std::mutex mutex;
    std::vector<std::jthread> started;
    const std::lock_guard all_wait(mutex);  // until the end; then `started` joins them
    try {
        while (started.size() < n) started.emplace_back([&] { const std::lock_guard turn(mutex); });
    } catch (const std::system_error& error) {
        return error.code().value();
    }
    return 0;
}

}  // namespace

// Counts processors if the system does not tell which share a core.
std::size_t physical_cores() {
    const std::size_t quota = quota_processors();
    // With OMP_PROC_BIND this thread is already bound to one processor, but OpenMP knows the original number.
    if (omp_get_proc_bind() != omp_proc_bind_false)
        return std::min(quota, static_cast<std::size_t>(omp_get_num_procs()));
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    std::set<std::string> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
        std::string siblings;
        if (!std::getline(file, siblings)) siblings = std::to_string(cpu);
        cores.insert(siblings);
    }
    return std::min(quota, std::max<std::size_t>(1, cores.size()));
}

std::size_t default_threads() { return std::min({physical_cores(), kAsked, thread_limit()}); }

int set_threads(std::size_t threads) {
    threads = std::min(threads, thread_limit());
    const int error = try_threads(threads - 1);
    omp_set_dynamic(0);
    omp_set_num_threads(error == 0 ? static_cast<int>(threads) : 1);
    return error;
}

}  // namespace inkling
