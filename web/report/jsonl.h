// Files of JSON lines that may still grow: what has been read of them, and what has come since.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace inkling::web {

// How far a file was read. A run that is resumed replaces its files: then they are read anew.
struct Place {
    std::uint64_t file = 0, bytes = 0;  // its number in the file system; 0: not read
    bool continues(const std::filesystem::path& path) const;
};

struct Cursor {
    Place metrics, samples;
    std::uint64_t checkpoint = 0;                  // the newest, by its step
    std::string text() const;                      // "12.3400.0.0.500"
    static Cursor parse(const std::string& text);  // anything else: from the beginning
};

// The objects on the whole lines from `place` on, which moves behind them; none when there is no file. Other lines are
// left out, with a note.
std::vector<nlohmann::ordered_json> read_lines(const std::filesystem::path& path, Place& place,
                                               nlohmann::ordered_json& notes);

}  // namespace inkling::web
