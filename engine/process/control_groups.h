// The control groups of this process (a container's limits), version 1 and 2, and the files that the system describes
// itself with. Nothing here allocates memory.
//   visit_control_groups("cpu", [](const char* folder, int version) { ... });   // its own group, then those above it
#pragma once

#include <cstddef>

#include "engine/base/function_ref.h"

namespace inkling {

inline constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

// The beginning of a file of the system's.
struct SystemFile {
    explicit SystemFile(const char* path) noexcept;
    static SystemFile in(const char* folder, const char* name) noexcept;

    // The number behind a name, or `otherwise`. A name of "" is the beginning of the file.
    std::size_t number(const char* name, std::size_t otherwise) const noexcept;

    char text[4096] = "";
};

// Where the system lists a process's groups, and where their folders are.
struct ControlGroupFiles {
    const char *list = "/proc/self/cgroup", *root = "/sys/fs/cgroup";
};

void visit_control_groups(const char* controller, FunctionRef<void(const char* folder, int version)> visit,
                          const ControlGroupFiles& files = {}) noexcept;

// The processors that the quotas of the groups allow, the smallest of them rounded down: 1 or more, kNoLimit without.
std::size_t quota_processors(const ControlGroupFiles& files = {}) noexcept;

}  // namespace inkling
