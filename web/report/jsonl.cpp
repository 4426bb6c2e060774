#include "web/report/jsonl.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "formats/files/file.h"
#include "formats/json.h"

namespace inkling::web {

bool Place::continues(const std::filesystem::path& path) const {
    struct stat now {};
    if (stat(path.c_str(), &now) != 0) return file == 0 && bytes == 0;
    return (now.st_ino == file || (file == 0 && bytes == 0)) && static_cast<std::uint64_t>(now.st_size) >= bytes;
}

std::string Cursor::text() const {
    return fmt::format("{}.{}.{}.{}.{}", metrics.file, metrics.bytes, samples.file, samples.bytes, checkpoint);
}

Cursor Cursor::parse(const std::string& text) {
    Cursor c;
    char more;
    const int read =
        std::sscanf(text.c_str(), "%" SCNu64 ".%" SCNu64 ".%" SCNu64 ".%" SCNu64 ".%" SCNu64 "%c", &c.metrics.file,
                    &c.metrics.bytes, &c.samples.file, &c.samples.bytes, &c.checkpoint, &more);
    return read == 5 ? c : Cursor{};
}

std::vector<nlohmann::ordered_json> read_lines(const std::filesystem::path& path, Place& place,
                                               nlohmann::ordered_json& notes) {
    std::vector<nlohmann::ordered_json> lines;
    struct stat now {};
    std::ifstream file(path, std::ios::binary);
    if (stat(path.c_str(), &now) != 0 || !S_ISREG(now.st_mode) || !file) return lines;
    const std::uint64_t limit = formats::FileKind::any.limit;
    const auto size = static_cast<std::uint64_t>(now.st_size);
    const bool hole = formats::has_hole(path);
    if (hole || size > limit) {  // a hole costs its writer nothing, and its reader its size
        notes.push_back(hole ? fmt::format("{}: has a hole, which reads as NUL bytes", path.string())
                             : fmt::format("{}: has {} bytes: the limit is {} MB", path.string(), size, limit >> 20));
        return lines;
    }
    file.seekg(static_cast<std::streamoff>(place.bytes));
    std::ostringstream rest;
    rest << file.rdbuf();
    const std::string text = rest.str();
    std::size_t begin = 0, bad = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const auto line = formats::json_or_null(std::string_view(text).substr(begin, end - begin));
        if (line.is_object()) {
            if (!line.empty()) lines.emplace_back(line);
        } else {
            ++bad;
        }
    }
    place = {now.st_ino, place.bytes + begin};
    if (bad > 0)
        notes.push_back(fmt::format("{}: {} {} no JSON", path.string(), bad, bad == 1 ? "line is" : "lines are"));
    return lines;
}

}  // namespace inkling::web
