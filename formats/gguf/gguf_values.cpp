#include "formats/gguf/gguf_values.h"

#include <cmath>

#include "engine/base/check.h"
#include "engine/base/names.h"

namespace inkling::formats {
namespace {

using nlohmann::json;

template <class T>
json load_number(const std::byte* from) {
    return load_value<T>(from);
}

json load_flag(const std::byte* from) { return load_value<std::uint8_t>(from) != 0; }

std::string_view load_text(const std::byte* from) {
    return {reinterpret_cast<const char*>(from) + 8, load_value<std::uint64_t>(from)};
}

}  // namespace

json gguf_value(GgufValueType type, const std::byte* from) {
    constexpr json (*kLoad[])(const std::byte*) = {// in the order of GgufValueType
                                                   load_number<std::uint8_t>,
                                                   load_number<std::int8_t>,
                                                   load_number<std::uint16_t>,
                                                   load_number<std::int16_t>,
                                                   load_number<std::uint32_t>,
                                                   load_number<std::int32_t>,
                                                   load_number<float>,
                                                   load_flag,
                                                   [](const std::byte* text) { return json(load_text(text)); },
                                                   nullptr,
                                                   load_number<std::uint64_t>,
                                                   load_number<std::int64_t>,
                                                   load_number<double>};
    return kLoad[static_cast<std::size_t>(type)](from);
}

std::optional<double> GgufValues::number(const std::string& key) const {
    const std::optional<double> number = single().number(key);
    check<BadInput>(!number || std::isfinite(*number), "{}: {} must be a finite number", name_, shown_name(key));
    return number;
}

json GgufValues::under(const std::string& prefix) const {
    json all = json::object();
    for (const auto& [key, value] : values_.items()) {
        if (!key.starts_with(prefix)) continue;
        if (value.is_number_float()) number(key);  // refuses inf and nan
        all[key.substr(prefix.size())] = value;
    }
    return all;
}

const GgufList* GgufValues::find_list(const std::string& key, bool texts) const {
    const auto found = lists_.find(key);
    if (found == lists_.end() && !has(key)) return nullptr;
    const bool good = found != lists_.end() && (found->second.type == GgufValueType::text) == texts;
    check<BadInput>(good, "{}: {} must be a list of {}", name_, shown_name(key), texts ? "texts" : "numbers");
    return &found->second;
}

std::vector<std::string_view> GgufValues::texts(const std::string& key) const {
    const GgufList* const list = find_list(key, true);
    std::vector<std::string_view> texts;
    if (!list) return texts;
    texts.reserve(list->count);
    const std::byte* at = list->bytes.data();  // the header's reader has checked that all are inside
    for (std::uint64_t i = 0; i < list->count; ++i) {
        texts.push_back(load_text(at));
        at += 8 + texts.back().size();
    }
    return texts;
}

std::vector<double> GgufValues::numbers(const std::string& key, std::uint64_t count) const {
    const GgufList* const list = find_list(key, false);
    const std::uint64_t found = list ? list->count : 0;
    check<BadInput>(found == count, "{}: {} must hold {} numbers, got {}", name_, shown_name(key), count, found);
    std::vector<double> numbers(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const json value = gguf_value(list->type, list->bytes.data() + i * fixed_size(list->type));
        numbers[i] = value.is_boolean() ? value.get<bool>() : value.get<double>();
    }
    return numbers;
}

}  // namespace inkling::formats
