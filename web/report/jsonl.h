// Reads JSON-lines files incrementally while they grow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace inkling::web {

// How far a file was read. A resumed run replaces its files, which are then read from the start.
struct Place {
    std::uint64_t file = 0, bytes = 0;  // inode (0: not read yet) and offset
    bool continues(const std::filesystem::path& path) const;
};

struct Cursor {
    Place metrics, samples;
    std::uint64_t checkpoint = 0;                  // step of the newest
    std::string text() const;                      // "12.3400.0.0.500"
    static Cursor parse(const std::string& text);  // invalid text: the start
};

// The objects on the complete lines after `place`, which is advanced; none without a file. Invalid lines are skipped
// with a note.
std::vector<nlohmann::ordered_json> read_lines(const std::filesystem::path& path, Place& place,
                                               nlohmann::ordered_json& notes);

}  // namespace inkling::web
