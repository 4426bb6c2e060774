#include "engine/process/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "engine/process/control_groups.h"

namespace inkling {
namespace {

std::size_t less(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

std::size_t system_memory() noexcept {
    const SystemFile info("/proc/meminfo");
    const std::size_t free = info.number("MemAvailable:", kNoLimit);
    return free == kNoLimit ? free : 1024 * (free + info.number("SwapFree:", 0));
}

// Bytes that a limit on the process leaves.
std::size_t within(int resource, std::size_t in_use) noexcept {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return kNoLimit;
    return less(limit.rlim_cur, in_use);
}

// Bytes that the control groups leave. Files that a group has read count as its memory, but the system can drop them.
std::size_t within_groups() noexcept {
    std::size_t room = kNoLimit;
    visit_control_groups("memory", [&](const char* folder, int version) {
        const auto number = [&](const char* file, const char* name, std::size_t otherwise) {
            return SystemFile::in(folder, file).number(name, otherwise);
        };
        const std::size_t limit = number(version == 1 ? "memory.limit_in_bytes" : "memory.max", "", kNoLimit);
        if (limit == kNoLimit) return;
        const std::size_t used = number(version == 1 ? "memory.usage_in_bytes" : "memory.current", "", 0);
        const char* const files = version == 1 ? "\ntotal_inactive_file " : "\ninactive_file ";
        room = std::min(room, less(limit, less(used, number("memory.stat", files, 0))));
    });
    return room;
}

}  // namespace

std::size_t available_memory() noexcept {
    const SystemFile sizes("/proc/self/statm");  // pages: all, resident, shared, code, 0, data
    char* next = const_cast<char*>(sizes.text);
    std::size_t pages[6] = {};
    for (std::size_t& n : pages) n = std::strtoull(next, &next, 10);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return std::min(
        {system_memory(), within(RLIMIT_AS, pages[0] * page), within(RLIMIT_DATA, pages[5] * page), within_groups()});
}

std::size_t memory_in_use() noexcept {
    const SystemFile sizes("/proc/self/statm");
    const char* const resident = std::strchr(sizes.text, ' ');
    return resident ? std::strtoull(resident, nullptr, 10) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// The text is so short that it is stored in the string itself.
std::string bytes_text(double x) noexcept {
    constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    while (x >= 999.5 && unit + 1 < std::size(kUnits)) x /= 1000, ++unit;
    return fmt::format("{:.{}f} {}", x, unit == 0 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2, kUnits[unit]);
}

std::string out_of_memory_text(const std::string& what, double needed, double free, const std::string& remedy) {
    return fmt::format("out of memory: {} needs about {}, and {} are free: {}", what, bytes_text(needed),
                       bytes_text(free), remedy);
}

OutOfMemory::OutOfMemory(std::size_t bytes) noexcept {
    const auto text = [](std::size_t n) { return bytes_text(static_cast<double>(n)); };
    fmt::format_to_n(text_, sizeof text_ - 1, "out of memory: {} were asked for, {} are in use and {} free",
                     text(bytes), text(memory_in_use()), text(available_memory()));
}

}  // namespace inkling
