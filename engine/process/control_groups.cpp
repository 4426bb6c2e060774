#include "engine/process/control_groups.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace inkling {
namespace {

// `names` are a group's controllers, as in "cpu,cpuacct".
bool has(std::string_view names, std::string_view controller) {
    while (!names.empty()) {
        const std::size_t comma = std::min(names.find(','), names.size());
        if (names.substr(0, comma) == controller) return true;
        names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return false;
}

}  // namespace

SystemFile::SystemFile(const char* path) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t size = read(file, text, sizeof text - 1);
    if (size > 0) text[size] = '\0';
    close(file);
}

SystemFile SystemFile::in(const char* folder, const char* name) noexcept {
    char path[1400];
    std::snprintf(path, sizeof path, "%s/%s", folder, name);
    return SystemFile(path);
}

std::size_t SystemFile::number(const char* name, std::size_t otherwise) const noexcept {
    const char* const at = std::strstr(text, name);
    if (text[0] == '\0' || at == nullptr) return otherwise;
    char* end = nullptr;
    const unsigned long long value = std::strtoull(at + std::strlen(name), &end, 10);
    return end == at + std::strlen(name) ? otherwise : value;
}

// Reads lines "4:cpu,cpuacct:/group" of version 1 and "0::/group" of version 2. A container may see its group's path
// outside of it, which does not exist inside; the walk ends at the root, which is then its own group.
void visit_control_groups(const char* controller, FunctionRef<void(const char* folder, int version)> visit,
                          const ControlGroupFiles& files) noexcept {
    const SystemFile list(files.list);
    std::string_view text = list.text;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == line.npos) continue;
        const std::string_view names = line.substr(first + 1, second - first - 1);
        const auto walk = [&](const char* mount, int version) {
            std::string_view group = line.substr(second + 1);
            for (;;) {
                char folder[1300];
                std::snprintf(folder, sizeof folder, "%s/%s%.*s", files.root, mount, static_cast<int>(group.size()),
                              group.data());
                visit(folder, version);
                if (group.size() < 2) break;
                group = group.substr(0, group.rfind('/'));
            }
        };
        if (has(names, controller)) walk(controller, 1);
        if (names.empty()) walk("", 2), walk("unified", 2);  // "unified" if both versions are mounted
    }
}

std::size_t quota_processors(const ControlGroupFiles& files) noexcept {
    std::size_t least = kNoLimit;
    visit_control_groups(
        "cpu",
        [&](const char* folder, int version) {
            const SystemFile first =
                SystemFile::in(folder, version == 1 ? "cpu.cfs_quota_us" : "cpu.max");  // "100000 50000", "max 50000"
            const std::size_t quota = first.number("", kNoLimit);
            const std::size_t period =
                version == 1 ? SystemFile::in(folder, "cpu.cfs_period_us").number("", 0) : first.number(" ", 0);
            if (quota != kNoLimit && period > 0) least = std::min(least, std::max<std::size_t>(1, quota / period));
        },
        files);
    return least;
}

}  // namespace inkling
