// Strict JSON for files that come from elsewhere (tokenizer.json, config.json, safetensors headers):
//   const nlohmann::json j = parse_json(read_file(path, FileKind::json), path.string(), 128);
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace inkling::formats {

// Throws BadInput, one line that begins with `what`, for anything but one JSON value with white space around it: syntax
// errors, nesting deeper than max_depth, duplicate keys in an object, invalid UTF-8, NUL bytes, numbers that no double
// holds. A UTF-8 byte order mark at the start is skipped.
nlohmann::json parse_json(std::string_view text, const std::string& what, int max_depth);

// The same for a small value, up to 4 MiB and 64 levels, where damage is no error: null for what parse_json refuses.
nlohmann::json json_or_null(std::string_view text);

// Receives the parts of a JSON text as they are read, so that it need not be kept; an exception ends the reading.
class JsonParts : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit JsonParts(std::string what) : what_(std::move(what)) {}
    const std::string& what() const { return what_; }
    bool binary(binary_t&) final { return false; }
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& error) final;

  private:
    const std::string what_;  // begins every message
};

// Throws BadInput as parse_json does; depth and duplicate keys are left to the taker.
void read_json(std::string_view text, JsonParts& parts);

}  // namespace inkling::formats
