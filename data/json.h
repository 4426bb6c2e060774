// Strict JSON for files that come from elsewhere (tokenizer.json, config.json, safetensors headers):
//   const nlohmann::json j = parse_json(read_file(path), path.string(), 128);
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace inkling::data {

// Throws BadInput, one line that begins with `what`, for anything but one JSON value with white space around it: syntax
// errors, nesting deeper than max_depth, duplicate keys in an object, invalid UTF-8, NUL bytes, numbers that no double
// holds. A UTF-8 byte order mark at the start is skipped.
nlohmann::json parse_json(std::string_view text, const std::string& what, int max_depth);

}  // namespace inkling::data
