// Strict JSON for untrusted files (tokenizer.json, config.json, safetensors headers):
//   const nlohmann::json j = parse_json(read_file(path, FileKind::json), path.string(), 128);
// and JSON text for values whose strings may be any bytes: write_file(path, json_text(j, 2) + "\n").
#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace inkling::formats {

// Throws BadInput, one line that begins with `what`, for anything but one JSON value with white space around it: syntax
// errors, nesting deeper than max_depth, more values, duplicate keys in an object, invalid UTF-8, NUL bytes. A UTF-8
// byte order mark at the start is skipped. Python's extensions of JSON (NaN, Infinity, numbers out of double's range,
// strings with half of a surrogate pair) are read as binary values (is_binary()), which a reader skips or refuses by
// key.
nlohmann::json parse_json(std::string_view text, const std::string& what, int max_depth,
                          std::size_t max_values = SIZE_MAX);

// The same for a small value, up to 4 MiB and 64 levels: null instead of an error.
nlohmann::json json_or_null(std::string_view text);

// The same, with the keys of objects in the text's order.
nlohmann::ordered_json ordered_json_or_null(std::string_view text);

// The value of a key; null if it is absent, or if `j` is not an object.
const nlohmann::json& at_or_null(const nlohmann::json& object, const char* key);

// A value for messages, escaped and shortened to one line of ASCII when the message is formatted.
struct Quoted {
    const nlohmann::json* value;
    const char* none;  // shown for null

    std::string text() const;
    operator std::string() const { return text(); }
};
inline Quoted quote(const nlohmann::json& value) { return {&value, ""}; }
inline Quoted quote(const nlohmann::json* value, const char* none) { return {value, none}; }

// JSON text on one line, or with `indent` spaces a level. Strings that are not UTF-8, such as names of files, are
// escaped like Python's "surrogateescape": byte 0xE9 becomes \udce9. file_name() of the parsed value restores the
// bytes.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

// nullopt unless the value is a string of text or bytes.
std::optional<std::string> file_name(const nlohmann::json& value);

}  // namespace inkling::formats

template <>
struct fmt::formatter<inkling::formats::Quoted> : fmt::formatter<std::string_view> {
    auto format(const inkling::formats::Quoted& quoted, fmt::format_context& context) const {
        return fmt::formatter<std::string_view>::format(quoted.text(), context);
    }
};
