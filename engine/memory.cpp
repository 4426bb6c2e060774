#include "engine/memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace inkling {
namespace {

constexpr std::size_t kNoLimit = SIZE_MAX;

// The beginning of a file of the system's, without the heap.
struct SystemFile {
    explicit SystemFile(const char* path) noexcept {
        const int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return;
        const ssize_t size = read(file, text, sizeof text - 1);
        if (size > 0) text[size] = '\0';
        close(file);
    }

    // The number behind a name, or `otherwise`. A name of "" is the beginning of the file.
    std::size_t number(const char* name, std::size_t otherwise) const noexcept {
        const char* const at = std::strstr(text, name);
        if (text[0] == '\0' || at == nullptr) return otherwise;
        char* end = nullptr;
        const unsigned long long value = std::strtoull(at + std::strlen(name), &end, 10);
        return end == at + std::strlen(name) ? otherwise : value;
    }

    char text[4096] = "";
};

std::size_t less(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

std::size_t system_memory() noexcept {
    const SystemFile info("/proc/meminfo");
    const std::size_t free = info.number("MemAvailable:", kNoLimit);
    return free == kNoLimit ? free : 1024 * (free + info.number("SwapFree:", 0));
}

// Of the process: what a limit leaves of it.
std::size_t within(int resource, std::size_t in_use) noexcept {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return kNoLimit;
    return less(limit.rlim_cur, in_use);
}

// Of a control group and those above it, version 2 or 1. Files that the group has read count as its memory, but give
// way.
std::size_t within_cgroup() noexcept {
    const SystemFile groups("/proc/self/cgroup");
    struct Version {
        const char *mark, *root, *limit, *used, *files;
    };
    constexpr Version kVersions[] = {
        {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "\ninactive_file "},
        {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
         "\ntotal_inactive_file "},
    };
    std::size_t room = kNoLimit;
    for (const Version& v : kVersions) {
        const char* const at = std::strstr(groups.text, v.mark);
        if (at == nullptr) continue;
        char group[1024];
        std::snprintf(group, sizeof group, "%.*s", static_cast<int>(std::strcspn(at + std::strlen(v.mark), "\n")),
                      at + std::strlen(v.mark));
        for (;;) {
            const auto number = [&](const char* file, const char* name, std::size_t otherwise) {
                char path[1200];
                std::snprintf(path, sizeof path, "%s%s/%s", v.root, group, file);
                return SystemFile(path).number(name, otherwise);
            };
            const std::size_t limit = number(v.limit, "", kNoLimit);
            if (limit != kNoLimit)
                room = std::min(room, less(limit, less(number(v.used, "", 0), number("memory.stat", v.files, 0))));
            char* const last = std::strrchr(group, '/');
            if (last == nullptr || last[1] == '\0') break;
            *last = '\0';
        }
    }
    return room;
}

// 1234567890 as "1.23 GB".
void print_bytes(char* text, std::size_t size, double x) noexcept {
    constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    while (x >= 999.5 && unit + 1 < std::size(kUnits)) x /= 1000, ++unit;
    std::snprintf(text, size, "%.*f %s", unit == 0 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2, x, kUnits[unit]);
}

}  // namespace

std::size_t available_memory() noexcept {
    const SystemFile sizes("/proc/self/statm");  // pages: all, resident, shared, code, 0, data
    char* next = const_cast<char*>(sizes.text);
    std::size_t pages[6] = {};
    for (std::size_t& n : pages) n = std::strtoull(next, &next, 10);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return std::min(
        {system_memory(), within(RLIMIT_AS, pages[0] * page), within(RLIMIT_DATA, pages[5] * page), within_cgroup()});
}

std::size_t memory_in_use() noexcept {
    const SystemFile sizes("/proc/self/statm");
    const char* const resident = std::strchr(sizes.text, ' ');
    return resident ? std::strtoull(resident, nullptr, 10) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

std::string bytes_text(double bytes) {
    char text[32];
    print_bytes(text, sizeof text, bytes);
    return text;
}

OutOfMemory::OutOfMemory(std::size_t bytes) noexcept {
    char asked[32], used[32], left[32];
    print_bytes(asked, sizeof asked, static_cast<double>(bytes));
    print_bytes(used, sizeof used, static_cast<double>(memory_in_use()));
    print_bytes(left, sizeof left, static_cast<double>(available_memory()));
    std::snprintf(text_, sizeof text_, "out of memory: %s were asked for, %s are in use and %s free", asked, used,
                  left);
}

}  // namespace inkling
