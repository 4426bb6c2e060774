// Strict JSON for files that come from elsewhere (tokenizer.json, config.json, safetensors headers):
//   const nlohmann::json j = parse_json(read_file(path, FileKind::json), path.string(), 128);
// and JSON text for values whose strings may be any bytes: write_file(path, json_text(j, 2) + "\n").
#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inkling::formats {

// Throws BadInput, one line that begins with `what`, for anything but one JSON value with white space around it: syntax
// errors, nesting deeper than max_depth, duplicate keys in an object, invalid UTF-8, NUL bytes. A UTF-8 byte order mark
// at the start is skipped. What Python's json module writes beyond JSON is read, as a value that is of no JSON kind, so
// that a reader passes over it or refuses it by its key: is_binary(). These are NaN, Infinity, numbers that no double
// holds, and strings with half of a surrogate pair.
nlohmann::json parse_json(std::string_view text, const std::string& what, int max_depth);

// The same for a small value, up to 4 MiB and 64 levels, where damage is no error: null for what parse_json refuses.
nlohmann::json json_or_null(std::string_view text);

// A value for messages: escaped to one line of ASCII, and short. It is written when the message is.
struct Quoted {
    const nlohmann::json* value;
    const char* none;  // where the value is null: there is none

    std::string text() const;
    operator std::string() const { return text(); }
};
inline Quoted quote(const nlohmann::json& value) { return {&value, ""}; }
inline Quoted quote(const nlohmann::json* value, const char* none) { return {value, none}; }

// JSON text on one line, or with `indent` spaces a level. Strings that are not UTF-8, such as names of files, are
// written as Python's "surrogateescape" does: byte 0xE9 becomes \udce9. file_name() of the value that parse_json reads
// has the bytes again.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

// Nothing for a value that is no string, of text or of bytes.
std::optional<std::string> file_name(const nlohmann::json& value);

// Receives the parts of a JSON text as they are read, so that it need not be kept; an exception ends the reading.
class JsonParts : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit JsonParts(std::string what) : what_(std::move(what)) {}
    const std::string& what() const { return what_; }

    virtual bool text(string_t& value) = 0;
    // What JSON does not have (parse_json).
    bool binary(binary_t& value) override = 0;

    bool string(string_t& value) final;
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& error) final;

  private:
    friend void read_json(std::string_view text, JsonParts& parts);

    const std::string what_;                                     // begins every message
    std::vector<std::pair<std::size_t, std::size_t>> replaced_;  // places in the text that is parsed, and in the given
};

// Throws BadInput as parse_json does; depth and duplicate keys are left to the taker.
void read_json(std::string_view text, JsonParts& parts);

}  // namespace inkling::formats

template <>
struct fmt::formatter<inkling::formats::Quoted> : fmt::formatter<std::string_view> {
    auto format(const inkling::formats::Quoted& quoted, fmt::format_context& context) const {
        return fmt::formatter<std::string_view>::format(quoted.text(), context);
    }
};
