// The metadata of a GGUF file. Values stay in the file until they are read.
//   values.text("general.architecture");   // nullopt for a missing key
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inkling::formats {

// A value of the metadata, in the file's bytes.
struct GgufValue {
    enum class Type : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, text, array, u64, i64, f64 };
    Type type = Type::u8;  // of the elements, for a list
    bool list = false;
    std::uint64_t count = 1;
    std::span<const std::byte> bytes = {};
};

// The bytes of a value; 0 for texts and lists, which have no fixed size.
constexpr std::uint64_t fixed_size(GgufValue::Type type) {
    constexpr std::uint64_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return kSizes[static_cast<std::size_t>(type)];
}

template <class T>
T load_value(const std::byte* from) {  // at any alignment
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

class GgufValues {
  public:
    GgufValues() = default;
    // `name`: of the file, for messages.
    GgufValues(std::string name, std::map<std::string, GgufValue> values)
        : name_(std::move(name)), values_(std::move(values)) {}

    // nullopt for a missing key. BadInput for a value of another kind.
    bool has(const std::string& key) const { return values_.contains(key); }
    bool is_list(const std::string& key) const { return has(key) && values_.at(key).list; }
    std::optional<std::string_view> text(const std::string& key) const;
    std::optional<std::uint64_t> size(const std::string& key) const;  // any non-negative whole number
    std::optional<double> number(const std::string& key) const;  // float32 as its shortest decimal: 1e-05f is 1e-05
    std::optional<bool> flag(const std::string& key) const;
    std::vector<std::string_view> texts(const std::string& key) const;  // empty for a missing key
    // BadInput for another count. Flags are 0 or 1.
    std::vector<double> numbers(const std::string& key, std::uint64_t count) const;
    // The single values whose keys begin with `prefix`, under the rest of the key; a list is an empty one.
    nlohmann::json under(const std::string& prefix) const;
    const std::map<std::string, GgufValue>& values() const { return values_; }
    const std::string& name() const { return name_; }

  private:
    const GgufValue* find(const std::string& key, bool list) const;
    [[noreturn]] void refuse(const std::string& key, const char* wanted) const;

    std::string name_;
    std::map<std::string, GgufValue> values_;
};

}  // namespace inkling::formats
