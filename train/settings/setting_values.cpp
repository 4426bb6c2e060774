// Values of settings: as text, as JSON, and from the command line.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

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
    check<WrongSetting>(good, "{} must be seconds, or a time such as 90s, 5m or 1h30m, got '{}'", flag, text);
    return seconds;
}

// The value that a text of the command line stands for; null: none.
ordered_json from_text(const Setting& s, const std::string& flag, const std::string& text) {
    const auto number = [](const auto& read) { return read ? ordered_json(*read) : ordered_json(); };
    if (std::holds_alternative<Duration>(s.field)) return read_duration(flag, text);
    if (std::holds_alternative<Field<bool>>(s.field))
        return text == "true" || text == "false" ? ordered_json(text == "true") : ordered_json();
    if (std::holds_alternative<Field<std::uint64_t>>(s.field))
        return std::ranges::count(s.words, text) > 0 ? ordered_json(0u)
                                                     : number(formats::parse_number<std::uint64_t>(text));
    if (std::holds_alternative<Field<double>>(s.field))
        return number(formats::parse_number<double>(std::string_view(text).substr(text.starts_with('+'))));
    return text;
}

// Whether a value can be assigned to a field of type T.
template <class T>
bool is_a(const ordered_json& v) {
    if constexpr (std::is_same_v<T, bool>) return v.is_boolean();
    if constexpr (std::is_same_v<T, std::uint64_t>)
        return v.is_number_unsigned() || (v.is_number_integer() && v.get<std::int64_t>() >= 0);
    if constexpr (std::is_same_v<T, double>) return v.is_number();
    if constexpr (std::is_same_v<T, std::string>) return v.is_string();
    if constexpr (std::is_same_v<T, Texts>) return v.is_array() && std::all_of(v.begin(), v.end(), is_a<std::string>);
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
    return kKinds[field.index()];
}

std::string Setting::text(const TrainOptions& options) const {
    const ordered_json all = json(options);
    if (all.is_string()) return all.get<std::string>();
    if (all.is_array()) return fmt::format("{}", fmt::join(all.get<Texts>(), ", "));
    // the shortest text that round-trips; "-0" would be read as 0
    return all.is_number_float() ? fmt::format("{}", all.get<double>() + 0.0) : all.dump();
}

ordered_json Setting::json(const TrainOptions& options) const {
    if (const auto* const choice = std::get_if<Choice>(&field)) return choice->name(options);
    if (const auto* const time = std::get_if<Duration>(&field)) return options.*time->seconds;
    return std::visit(
        [&](auto member) -> ordered_json {
            if constexpr (std::is_member_pointer_v<decltype(member)>)
                return options.*member;
            else
                return nullptr;
        },
        field);
}

bool Setting::set(TrainOptions& options, const ordered_json& v) const {
    const auto assign = [&]<class T>(Field<T> member) { return is_a<T>(v) && (v.get_to(options.*member), true); };
    if (const auto* const choice = std::get_if<Choice>(&field))
        return is_a<std::string>(v) && (choice->set(options, "--" + name, v.get<std::string>()), true);
    if (const auto* const time = std::get_if<Duration>(&field)) return assign(time->seconds);
    return std::visit(
        [&](auto member) {
            if constexpr (std::is_member_pointer_v<decltype(member)>)
                return assign(member);
            else
                return false;
        },
        field);
}

void Setting::read(TrainOptions& options, const Texts& texts) const {
    if (const auto* const list = std::get_if<Field<Texts>>(&field))
        options.** list = texts;
    else
        for (const std::string& text : texts)
            check<WrongSetting>(set(options, from_text(*this, "--" + name, text)), "--{}: expected {}, got '{}'", name,
                                kind(), shown_name(text));
}

std::vector<const Setting*> differing(const TrainOptions& a, const TrainOptions& b) {
    std::vector<const Setting*> all;
    for (const Setting& s : settings())
        if (s.json(a) != s.json(b)) all.push_back(&s);
    return all;
}

void Config::fill(const Config& under) {
    for (const Setting& s : settings())
        if (!s.is(kOneStart) && !is_given(s.name)) s.set(options, s.json(under.options));
    if (options.plan.empty()) options.plan = under.options.plan;
    given.insert(under.given.begin(), under.given.end());
}

ordered_json settings_json(const TrainOptions& options) {
    ordered_json all;
    for (const Setting& s : settings())
        if (!s.is(kCommand)) all[s.key()] = s.json(options);
    return all;
}

}  // namespace inkling::train
