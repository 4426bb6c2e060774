#include "distributed/launch.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <thread>

#include "engine/base/check.h"

namespace inkling::distributed {
namespace {

namespace fs = std::filesystem;

// Variables of Open MPI's mpirun, and of MPICH's, which others also set.
constexpr std::initializer_list<const char*> kCounts = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
constexpr std::initializer_list<const char*> kRanks = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};

std::size_t number(std::initializer_list<const char*> names, std::size_t otherwise) {
    for (const char* const name : names) {
        if (const char* const text = std::getenv(name)) return std::strtoull(text, nullptr, 10);
    }
    return otherwise;
}

#ifdef INKLING_MPI_PLACES
fs::path find_module() {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
    for (const char* const place : {INKLING_MPI_PLACES}) {
        if (fs::exists(program / place)) return program / place;
    }
    throw Error(fmt::format("inkling-mpi.so is neither beside {} nor in its library folder: install Inkling again",
                            program.string()));
}
#endif

}  // namespace

std::size_t launched_count() {
    // srun sets the number of tasks only for its own tasks; PMIX_RANK tells whether a task uses MPI
    const std::size_t tasks = std::getenv("PMIX_RANK") ? number({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, 1) : 1;
    return number(kCounts, tasks);
}

std::size_t launched_rank() { return launched_count() > 1 ? number(kRanks, 0) : 0; }

Processes& start_processes() {
    const std::size_t count = launched_count();
    if (count <= 1) return processes();
#ifdef INKLING_MPI_PLACES
    const fs::path path = find_module();
    void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);  // parts of MPI look for each other by name
    check(module != nullptr, "MPI cannot be loaded: {}", module ? "" : dlerror());
    const auto start = reinterpret_cast<Processes* (*)(std::string*)>(dlsym(module, "inkling_start_mpi"));  // mpi.cpp
    check(start != nullptr, "{}: is of another version of Inkling", path.string());
    std::string what;
    Processes* const all = start(&what);
    check(all != nullptr,
          "mpirun started {} processes, and {} knows of one: Inkling was built for it, and needs its mpirun", count,
          what);
    started_processes().reset(all);
    check(all->count == count, "mpirun started {} processes, and MPI knows of {}", count, all->count);
    return *all;
#else
    throw Error(
        fmt::format("mpirun started {} processes, and this Inkling was built without MPI: install libopenmpi-dev or "
                    "libmpich-dev and build it again, or start it without mpirun",
                    count));
#endif
}

void finish_processes(int code) {
    if (processes().count == 1) return;
    processes().barrier();
    std::thread([code] {
        std::this_thread::sleep_for(std::chrono::seconds(3));
        _exit(code);
    }).detach();
    processes().finish();
}

}  // namespace inkling::distributed
