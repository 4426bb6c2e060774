#include "formats/gguf/gguf_values.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "engine/base/check.h"
#include "engine/base/names.h"

namespace inkling::formats {
namespace {

using ValueType = GgufValue::Type;

template <class T>
double load_number(const std::byte* at) {
    return static_cast<double>(load_value<T>(at));
}

// Any number or flag as a double; whole ones beyond 2^53 are rounded.
double number_at(ValueType type, const std::byte* at) {
    constexpr double (*kLoad[])(const std::byte*) = {// in the order of ValueType; texts and lists are no numbers
                                                     load_number<std::uint8_t>,
                                                     load_number<std::int8_t>,
                                                     load_number<std::uint16_t>,
                                                     load_number<std::int16_t>,
                                                     load_number<std::uint32_t>,
                                                     load_number<std::int32_t>,
                                                     load_number<float>,
                                                     load_number<std::uint8_t>,
                                                     nullptr,
                                                     nullptr,
                                                     load_number<std::uint64_t>,
                                                     load_number<std::int64_t>,
                                                     load_number<double>};
    return kLoad[static_cast<std::size_t>(type)](at);
}

bool is_number(ValueType type) {
    return type != ValueType::text && type != ValueType::array && type != ValueType::flag;
}

}  // namespace

void GgufValues::refuse(const std::string& key, const char* wanted) const {
    throw BadInput(fmt::format("{}: {} must be {}", name_, shown_name(key), wanted));
}

const GgufValue* GgufValues::find(const std::string& key, bool list) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return nullptr;
    if (found->second.list != list) refuse(key, list ? "a list" : "one value, not a list");
    return &found->second;
}

std::optional<std::string_view> GgufValues::text(const std::string& key) const {
    const GgufValue* const value = find(key, false);
    if (!value) return std::nullopt;
    if (value->type != ValueType::text) refuse(key, "a text");
    return std::string_view(reinterpret_cast<const char*>(value->bytes.data()) + 8, value->bytes.size() - 8);
}

std::optional<std::uint64_t> GgufValues::size(const std::string& key) const {
    const GgufValue* const value = find(key, false);
    if (!value) return std::nullopt;
    if (value->type == ValueType::u64) return load_value<std::uint64_t>(value->bytes.data());
    const double number = is_number(value->type) ? number_at(value->type, value->bytes.data()) : -1;
    if (!(number >= 0 && number < 0x1p63 && number == std::floor(number))) refuse(key, "a whole number");
    return static_cast<std::uint64_t>(number);
}

std::optional<double> GgufValues::number(const std::string& key) const {
    const GgufValue* const value = find(key, false);
    if (!value) return std::nullopt;
    if (!is_number(value->type)) refuse(key, "a number");
    const double number = number_at(value->type, value->bytes.data());
    if (!std::isfinite(number)) refuse(key, "a finite number");
    if (value->type != ValueType::f32) return number;
    return std::strtod(fmt::format("{}", static_cast<float>(number)).c_str(), nullptr);
}

std::optional<bool> GgufValues::flag(const std::string& key) const {
    const GgufValue* const value = find(key, false);
    if (!value) return std::nullopt;
    if (value->type != ValueType::flag) refuse(key, "true or false");
    return number_at(value->type, value->bytes.data()) != 0;
}

nlohmann::json GgufValues::under(const std::string& prefix) const {
    nlohmann::json all = nlohmann::json::object();
    for (auto at = values_.lower_bound(prefix); at != values_.end() && at->first.starts_with(prefix); ++at) {
        const auto& [key, value] = *at;
        nlohmann::json& here = all[key.substr(prefix.size())];
        if (value.list)
            here = nlohmann::json::array();
        else if (value.type == ValueType::text)
            here = *text(key);
        else if (value.type == ValueType::flag)
            here = *flag(key);
        else if (value.type == ValueType::u64)
            here = *size(key);
        else
            here = *number(key);
    }
    return all;
}

std::vector<std::string_view> GgufValues::texts(const std::string& key) const {
    const GgufValue* const value = find(key, true);
    std::vector<std::string_view> texts;
    if (!value) return texts;
    if (value->type != ValueType::text) refuse(key, "a list of texts");
    texts.reserve(value->count);
    const std::byte* at = value->bytes.data();  // the header's reader has checked that all are inside
    for (std::uint64_t i = 0; i < value->count; ++i) {
        const auto size = load_value<std::uint64_t>(at);
        texts.emplace_back(reinterpret_cast<const char*>(at) + 8, size);
        at += 8 + size;
    }
    return texts;
}

std::vector<double> GgufValues::numbers(const std::string& key, std::uint64_t count) const {
    const GgufValue* const value = find(key, true);
    if (value && !is_number(value->type) && value->type != ValueType::flag) refuse(key, "a list of numbers");
    const std::uint64_t found = value ? value->count : 0;
    check<BadInput>(found == count, "{}: {} must hold {} numbers, got {}", name_, shown_name(key), count, found);
    std::vector<double> numbers(count);
    for (std::uint64_t i = 0; i < count; ++i)
        numbers[i] = number_at(value->type, value->bytes.data() + i * fixed_size(value->type));
    return numbers;
}

}  // namespace inkling::formats
