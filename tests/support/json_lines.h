// Texts and files as lines, and as JSON:
//   for (const auto& line : lines_in(run + "/metrics.jsonl")) CHECK(line["step"] > 0);
//   CHECK(keys_of(lines[0]) == std::vector<std::string>{"step", "loss"});
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "formats/files/file.h"

namespace inkling::testing {

inline std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// One JSON object a line, of a text and of a file.
inline std::vector<nlohmann::ordered_json> json_lines(const std::string& text) {
    std::vector<nlohmann::ordered_json> result;
    for (const std::string& line : lines_of(text)) result.push_back(nlohmann::ordered_json::parse(line));
    return result;
}
inline std::vector<nlohmann::ordered_json> lines_in(const std::string& path) {
    return json_lines(formats::read_file(path));
}

inline nlohmann::json json_in(const std::string& path) { return nlohmann::json::parse(formats::read_file(path)); }

inline std::vector<std::string> keys_of(const nlohmann::ordered_json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
}

}  // namespace inkling::testing
