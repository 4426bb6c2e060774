// The metadata of a GGUF file: single values as JSON, and lists, which stay in the file until they are read.
//   values.text("general.architecture");   // nullopt for a missing key
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json_object.h"

namespace inkling::formats {

enum class GgufValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, text, array, u64, i64, f64 };

struct GgufList {
    GgufValueType type = GgufValueType::u8;  // of the elements
    std::uint64_t count = 0;
    std::span<const std::byte> bytes = {};
};

// The bytes of a value; 0 for texts and lists, which have no fixed size.
constexpr std::uint64_t fixed_size(GgufValueType type) {
    constexpr std::uint64_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return kSizes[static_cast<std::size_t>(type)];
}

template <class T>
T load_value(const std::byte* from) {  // at any alignment
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Any value but a list.
nlohmann::json gguf_value(GgufValueType type, const std::byte* from);

class GgufValues {
  public:
    GgufValues() = default;
    explicit GgufValues(std::string name) : name_(std::move(name)) {}  // of the file, for messages

    // False: the key is there already.
    bool add(const std::string& key, nlohmann::json value) { return values_.emplace(key, std::move(value)).second; }
    bool add(const std::string& key, const GgufList& list) {
        return add(key, nlohmann::json::array()) && lists_.emplace(key, list).second;
    }

    // nullopt for a missing key. BadInput for a value of another kind.
    bool has(const std::string& key) const { return values_.contains(key); }
    bool is_list(const std::string& key) const { return lists_.contains(key); }
    std::optional<std::string> text(const std::string& key) const { return single().text(key); }
    std::optional<std::uint64_t> size(const std::string& key) const { return single().integer(key, 0); }
    std::optional<double> number(const std::string& key) const;  // float32 as its shortest decimal: 1e-05f is 1e-05
    std::optional<bool> flag(const std::string& key) const { return single().flag(key); }
    std::vector<std::string_view> texts(const std::string& key) const;  // empty for a missing key
    // BadInput for another count. Flags are 0 or 1.
    std::vector<double> numbers(const std::string& key, std::uint64_t count) const;
    // The values whose keys begin with `prefix`, under the rest of the key.
    nlohmann::json under(const std::string& prefix) const;
    const nlohmann::json& values() const { return values_; }  // a list is an empty one
    const std::map<std::string, GgufList>& lists() const { return lists_; }
    const std::string& name() const { return name_; }

  private:
    JsonObject single() const { return {values_, name_ + ": "}; }
    const GgufList* find_list(const std::string& key, bool texts) const;

    std::string name_;
    nlohmann::json values_ = nlohmann::json::object();
    std::map<std::string, GgufList> lists_;
};

}  // namespace inkling::formats
