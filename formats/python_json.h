// What Python's json module writes and JSON does not have: NaN, Infinity, -Infinity, numbers that no double holds, and
// strings with half of a surrogate pair. For a parser of JSON each becomes a string that is marked:
//   std::vector<std::pair<std::size_t, std::size_t>> replaced;
//   const std::string json = python_values_marked(text, replaced);
//   if (const auto value = python_value(string)) ...            // of a string that the parser has read
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inkling::formats {

// "" where the text has none of them. `replaced`: for each, the place behind it in the result and in `text`.
std::string python_values_marked(std::string_view text, std::vector<std::pair<std::size_t, std::size_t>>& replaced);

// Nothing for a string that is not marked. Else the number as it was written, or, of subtype kBytesSubtype, the bytes
// of the string: \udc80 to \udcff stand for one byte each, as in Python's "surrogateescape".
std::optional<nlohmann::json::binary_t> python_value(std::string_view string);

constexpr std::uint64_t kBytesSubtype = 1;

}  // namespace inkling::formats
