// Reads a JSON object key by key. Every error names the key, the requirement and the value found:
//   const JsonObject in(json, "config.json: ");
//   in.number("dropout", 0, 1).value_or(0)       // BadKey: config.json: dropout must be a number from 0 to 1, got 7
//   in.refuse_others();                          // the keys that nothing has asked for
// A key whose value is null counts as absent. The JSON must outlive its readers.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/check.h"

namespace inkling::formats {

struct BadKey : BadInput {
    BadKey(std::string path, const std::string& why) : BadInput(path + why), key(std::move(path)) {}
    std::string key;  // with all that stands before it: "messages[0].content"
};

// An integer, also written as 1.0; none for other values and beyond 64 bits.
std::optional<std::int64_t> whole_number(const nlohmann::json& value);

class JsonObject {
  public:
    // `place` begins every message. Throws BadKey for another value than an object.
    JsonObject(const nlohmann::json& object, std::string place);

    const nlohmann::json* find(const std::string& key) const;  // null: absent
    bool has(const std::string& key) const { return find(key) != nullptr; }
    bool names(const std::string& key) const { return json_.contains(key); }  // null too
    std::optional<std::string> text(const std::string& key) const;
    std::optional<double> number(const std::string& key, double least = -INFINITY, double most = INFINITY) const;
    std::optional<std::int64_t> integer(const std::string& key, std::int64_t least,
                                        std::int64_t most = INT64_MAX) const;
    std::optional<bool> flag(const std::string& key) const;
    std::vector<std::string> texts(const std::string& key) const;  // none if absent
    // The same, where the key is required.
    std::string required_text(const std::string& key) const;
    bool required_flag(const std::string& key) const;

    void refuse_others() const;
    // "KEY: WHY", or what is wrong with the value's text.
    [[noreturn]] void refuse(const std::string& key, const std::string& why) const;
    // "KEY must be KIND, got VALUE"
    [[noreturn]] void refuse_kind(const std::string& key, const std::string& kind) const;

  protected:
    const nlohmann::json& json_;
    std::string place_;

  private:
    mutable std::set<std::string> known_;
};

}  // namespace inkling::formats
