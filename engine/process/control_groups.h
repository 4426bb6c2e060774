// The control groups of this process (a container's limits), versions 1 and 2, and files of /proc. Allocates no memory.
//   visit_control_groups("cpu", [](const char* folder, int version) { ... });   // its own group, then those above it
#pragma once

#include <cstddef>

#include "engine/base/function_ref.h"

namespace inkling {

inline constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

// The beginning of a file of /proc or /sys.
struct SystemFile {
    explicit SystemFile(const char* path) noexcept;
    static SystemFile in(const char* folder, const char* name) noexcept;

    // The number after a name, or `otherwise`; the name "" is the start of the file.
    std::size_t number(const char* name, std::size_t otherwise) const noexcept;

    char text[4096] = "";
};

// Where the system lists a process's groups, and the folder of all groups.
struct ControlGroupFiles {
    const char *list = "/proc/self/cgroup", *root = "/sys/fs/cgroup";
};

void visit_control_groups(const char* controller, FunctionRef<void(const char* folder, int version)> visit,
                          const ControlGroupFiles& files = {}) noexcept;

// The processors that the groups' quotas allow: the smallest, rounded down, at least 1; kNoLimit without a quota.
std::size_t quota_processors(const ControlGroupFiles& files = {}) noexcept;

}  // namespace inkling
