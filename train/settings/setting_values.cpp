// Values of settings: as text, as JSON, and from the command line.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "train/settings/settings.h"

namespace inkling::train {
namespace {

using Texts = std::vector<std::string>;

template <class Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

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

void read_value(const std::string& flag, const std::string& text, const Value& value) {
    std::visit(
        [&](auto field) {
            using Field = decltype(field);
            if constexpr (std::is_same_v<Field, bool*>) {
                check(text == "true" || text == "false", "{}: true or false is required, got '{}'", flag,
                      shown_name(text));
                *field = text == "true";
            } else if constexpr (std::is_same_v<Field, std::uint64_t*>) {
                check(read_number(text, *field), "{}: a whole number of at least 0 is required, got '{}'", flag,
                      shown_name(text));
            } else if constexpr (std::is_same_v<Field, double*>) {
                check(read_number(text.starts_with('+') ? std::string_view(text).substr(1) : text, *field),
                      "{}: a number is required, got '{}'", flag, shown_name(text));
            } else if constexpr (std::is_same_v<Field, Duration>) {
                *field.seconds = read_duration(flag, text);
            } else if constexpr (std::is_same_v<Field, std::string*>) {
                *field = text;
            } else if constexpr (std::is_same_v<Field, Choice>) {
                field.read(flag, text);
            }
        },
        value);
}

}  // namespace

std::string Setting::key() const {
    std::string result = name;
    std::replace(result.begin(), result.end(), '-', '_');
    return result;
}

std::string Setting::text() const {
    return std::visit(
        [](auto field) -> std::string {
            using Field = decltype(field);
            if constexpr (std::is_same_v<Field, Choice>) {
                return field.text();
            } else if constexpr (std::is_same_v<Field, Texts*>) {
                return fmt::format("{}", fmt::join(*field, ", "));
            } else if constexpr (std::is_same_v<Field, Duration>) {
                return fmt::format("{}", *field.seconds + 0.0);
            } else if constexpr (std::is_same_v<Field, double*>) {
                return fmt::format("{}", *field + 0.0);  // the shortest text that round-trips; "-0" would be read as 0
            } else {
                return fmt::format("{}", *field);
            }
        },
        value);
}

nlohmann::ordered_json Setting::json() const {
    return std::visit(
        [](auto field) -> nlohmann::ordered_json {
            using Field = decltype(field);
            if constexpr (std::is_same_v<Field, Choice>) {
                return field.text();
            } else if constexpr (std::is_same_v<Field, Duration>) {
                return *field.seconds;
            } else {
                return *field;
            }
        },
        value);
}

void Setting::read(const Texts& texts) const {
    if (Texts* const* const list = std::get_if<Texts*>(&value)) {
        **list = texts;
        return;
    }
    for (const std::string& text : texts) read_value("--" + name, text, value);
}

void Setting::copy(const Setting& other) const {
    std::visit(
        [&](auto field) {
            using Field = decltype(field);
            const auto& from = std::get<Field>(other.value);
            if constexpr (std::is_same_v<Field, Choice>) {
                field.read("--" + name, from.text());
            } else if constexpr (std::is_same_v<Field, Duration>) {
                *field.seconds = *from.seconds;
            } else {
                *field = *from;
            }
        },
        value);
}

std::vector<std::pair<Setting, Setting>> differing(TrainOptions& a, TrainOptions& b) {
    std::vector<std::pair<Setting, Setting>> pairs;
    const std::vector<Setting> first = settings(a), second = settings(b);
    for (std::size_t i = 0; i < first.size(); ++i)
        if (first[i].toml() != second[i].toml()) pairs.emplace_back(first[i], second[i]);
    return pairs;
}

nlohmann::ordered_json settings_json(TrainOptions options) {
    nlohmann::ordered_json all;
    for (const Setting& s : settings(options)) all[s.key()] = s.json();
    return all;
}

}  // namespace inkling::train
