// Values of settings: as text, as JSON, and from the command line.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "formats/ascii.h"
#include "train/settings/settings.h"

namespace inkling::train {
namespace {

using nlohmann::ordered_json;
using Texts = std::vector<std::string>;

double read_duration(const std::string& flag, const std::string& text) {
    const std::string_view all = text;
    double seconds = 0;
    const char* at = text.c_str();
    const char* const end = at + text.size();
    bool good = !text.empty();
    while (good && at != end) {
        double number = 0;
        const auto [rest, error] = std::from_chars(at, end, number);
        const std::size_t unit = rest == end ? 0 : std::string_view("smhd").find(*rest);
        good =
            error == std::errc() && number >= 0 && unit != std::string_view::npos && (rest != end || at == all.data());
        if (!good) break;
        seconds += number * std::array{1.0, 60.0, 3600.0, 86400.0}[unit];
        at = rest == end ? end : rest + 1;
    }
    check(good, "{} must be seconds, or a time such as 90s, 5m or 1h30m, got '{}'", flag, text);
    return seconds;
}

// The value that a text of the command line stands for; null: none.
ordered_json from_text(const Setting& s, const std::string& flag, const std::string& text) {
    const auto number = [](const auto& read) { return read ? ordered_json(*read) : ordered_json(); };
    if (std::holds_alternative<Duration>(s.value)) return read_duration(flag, text);
    if (std::holds_alternative<bool*>(s.value))
        return text == "true" || text == "false" ? ordered_json(text == "true") : ordered_json();
    if (std::holds_alternative<std::uint64_t*>(s.value)) return number(formats::parse_number<std::uint64_t>(text));
    if (std::holds_alternative<double*>(s.value))
        return number(formats::parse_number<double>(std::string_view(text).substr(text.starts_with('+'))));
    return text;
}

}  // namespace

std::string Setting::key() const {
    std::string result = name;
    std::replace(result.begin(), result.end(), '-', '_');
    return result;
}

const char* Setting::kind() const {
    constexpr const char* kKinds[] = {
        "true or false", "a whole number of at least 0", "a number", "a number", "a string", "a list of strings",
        "a string"};
    return kKinds[value.index()];
}

std::string Setting::text() const {
    const ordered_json all = json();
    if (all.is_string()) return all.get<std::string>();
    if (all.is_array()) return fmt::format("{}", fmt::join(all.get<Texts>(), ", "));
    // the shortest text that round-trips; "-0" would be read as 0
    return all.is_number_float() ? fmt::format("{}", all.get<double>() + 0.0) : all.dump();
}

ordered_json Setting::json() const {
    return std::visit(
        [](auto field) -> ordered_json {
            using Field = decltype(field);
            if constexpr (std::is_same_v<Field, Choice>)
                return field.text();
            else if constexpr (std::is_same_v<Field, Duration>)
                return *field.seconds;
            else
                return *field;
        },
        value);
}

bool Setting::set(const ordered_json& v) const {
    return std::visit(
        [&](auto field) {
            using Field = decltype(field);
            if constexpr (std::is_same_v<Field, bool*>) {
                return v.is_boolean() && (v.get_to(*field), true);
            } else if constexpr (std::is_same_v<Field, std::uint64_t*>) {
                const bool good = v.is_number_unsigned() || (v.is_number_integer() && v.get<std::int64_t>() >= 0);
                return good && (v.get_to(*field), true);
            } else if constexpr (std::is_same_v<Field, double*>) {
                return v.is_number() && (v.get_to(*field), true);
            } else if constexpr (std::is_same_v<Field, Duration>) {
                return v.is_number() && (v.get_to(*field.seconds), true);
            } else if constexpr (std::is_same_v<Field, Choice>) {
                return v.is_string() && (field.read("--" + name, v.get<std::string>()), true);
            } else if constexpr (std::is_same_v<Field, std::string*>) {
                return v.is_string() && (v.get_to(*field), true);
            } else {
                const auto is_text = [](const ordered_json& one) { return one.is_string(); };
                return v.is_array() && std::all_of(v.begin(), v.end(), is_text) && (v.get_to(*field), true);
            }
        },
        value);
}

void Setting::read(const Texts& texts) const {
    if (Texts* const* const list = std::get_if<Texts*>(&value))
        **list = texts;
    else
        for (const std::string& text : texts)
            check(set(from_text(*this, "--" + name, text)), "--{}: {} is required, got '{}'", name, kind(),
                  shown_name(text));
}

std::vector<std::pair<Setting, Setting>> differing(TrainOptions& a, TrainOptions& b) {
    std::vector<std::pair<Setting, Setting>> pairs;
    const std::vector<Setting> first = settings(a), second = settings(b);
    for (std::size_t i = 0; i < first.size(); ++i)
        if (first[i].json() != second[i].json()) pairs.emplace_back(first[i], second[i]);
    return pairs;
}

ordered_json settings_json(TrainOptions options) {
    ordered_json all;
    for (const Setting& s : settings(options)) all[s.key()] = s.json();
    return all;
}

}  // namespace inkling::train
