// Python's extensions of JSON: NaN, Infinity, -Infinity, numbers out of double's range, and strings with half of a
// surrogate pair. Replaces each by a marked string, for a JSON parser:
//   std::vector<std::pair<std::size_t, std::size_t>> replaced;
//   const std::string json = python_values_marked(text, replaced);
//   if (const auto value = python_value(string)) ...            // for a parsed string
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inkling::formats {

// "" for a text without them. `replaced`: for each, the offset after it in the result and in `text`.
std::string python_values_marked(std::string_view text, std::vector<std::pair<std::size_t, std::size_t>>& replaced);

// nullopt for an unmarked string. Else the number as written, or, with subtype kBytesSubtype, the string's bytes:
// \udc80 to \udcff stand for one byte each, as in Python's "surrogateescape".
std::optional<nlohmann::json::binary_t> python_value(std::string_view string);

constexpr std::uint64_t kBytesSubtype = 1;

}  // namespace inkling::formats
