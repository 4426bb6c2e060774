// Writes and reads settings as config.toml.
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/toml_nesting.h"
#include "formats/utf8.h"
#include "train/settings/settings.h"

namespace inkling::train {
namespace {

// A node as JSON; { url = "caf%E9.txt" } is a name that is not UTF-8. Null: none that a setting may have.
nlohmann::ordered_json json_of(const toml::node& node, const std::string& what) {
    nlohmann::ordered_json value;
    const toml::node* const url = node.is_table() ? node.as_table()->get("url") : nullptr;
    if (const toml::array* const list = node.as_array()) {
        value = nlohmann::ordered_json::array();
        for (const toml::node& item : *list) value.push_back(json_of(item, what));
    } else if (url && url->is_string() && node.as_table()->size() == 1) {
        value = formats::from_percent(*url->value<std::string>(), what);
    } else if (node.is_string()) {
        value = *node.value<std::string>();
    } else if (node.is_boolean()) {
        value = *node.value<bool>();
    } else if (node.is_integer()) {
        value = *node.value<std::int64_t>();
    } else if (node.is_floating_point()) {
        value = *node.value<double>();
    }
    // the system would cut a name at a NUL byte
    check<BadInput>(!value.is_string() || value.get_ref<std::string&>().find('\0') == std::string::npos,
                    "{}: a text without NUL bytes is required", what);
    return value;
}

// Quotes a string on one line: toml++ writes some multi-line and literal strings that it cannot read back.
std::string quoted(const std::string& text) {
    using Flags = toml::format_flags;
    const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
        return c == '\'' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    const Flags unsafe =
        plain ? Flags::allow_multi_line_strings : Flags::allow_multi_line_strings | Flags::allow_literal_strings;
    const bool utf8 = formats::find_invalid_utf8(text) == std::string::npos;
    const toml::value<std::string> value(utf8 ? text : formats::to_percent(text));
    std::ostringstream out;
    if (!utf8) out << "{ url = ";
    out << toml::toml_formatter(value, toml::toml_formatter::default_flags & ~unsafe);
    if (!utf8) out << " }";
    return out.str();
}

toml::table parsed(const std::string& text, const std::string& what) {
    formats::check_toml_nesting(text, what);
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& e) {
        std::string reason(e.description());
        std::replace(reason.begin(), reason.end(), '\n', ' ');  // it quotes the input, including the line end
        throw BadInput(fmt::format("{}: line {}: {}", what, e.source().begin.line, reason));
    }
}

std::string list_toml(const std::vector<std::string>& items) {
    return items.empty() ? "[]" : fmt::format("[ {} ]", fmt::join(items, ", "));
}

// The plan in config.toml. Older versions wrote at most one change, as numbers.
constexpr const char *kAdjustable = "replan", *kStep = "replan_step", *kStepsBefore = "planned_iters";

std::vector<std::size_t> read_steps(const toml::table& table, const char* key, const std::string& what) {
    std::vector<std::size_t> steps;
    const toml::node* const node = table.get(key);
    if (!node) return steps;
    for (const auto& item : json_of(*node, what)) {  // a number is one item
        check<BadInput>(item.is_number_integer() && item.get<std::int64_t>() >= 0,
                        "{}: {}: whole numbers of at least 0 are required", what, key);
        steps.push_back(item.get<std::size_t>());
    }
    return steps;
}

void read_plan(const toml::table& table, const std::string& what, RunPlan& plan) {
    if (const toml::node* const node = table.get(kAdjustable)) {
        check<BadInput>(node->is_boolean(), "{}: {}: true or false is required", what, kAdjustable);
        plan.adjustable = *node->value<bool>();
    }
    const auto steps = read_steps(table, kStep, what), before = read_steps(table, kStepsBefore, what);
    const bool rising = std::adjacent_find(steps.begin(), steps.end(), std::greater_equal<>()) == steps.end();
    check<BadInput>(steps.size() == before.size() && rising, "{}: {}: steps that rise, as many as {}, are required",
                    what, kStep, kStepsBefore);
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (steps[i] > 0) plan.changes.push_back({steps[i], before[i]});
}

std::string plan_toml(const RunPlan& plan) {
    if (plan.empty()) return "";
    std::vector<std::string> steps, before;
    for (const RunPlan::Change& change : plan.changes) {
        steps.push_back(fmt::format("{}", change.step));
        before.push_back(fmt::format("{}", change.steps_before));
    }
    return fmt::format("{} = {}\n{} = {}\n{} = {}\n", kAdjustable, plan.adjustable, kStep, list_toml(steps),
                       kStepsBefore, list_toml(before));
}

}  // namespace

std::string Setting::toml(const TrainOptions& options) const {
    const nlohmann::ordered_json all = json(options);
    if (!all.is_array()) return all.is_string() ? quoted(all.get<std::string>()) : text(options);
    std::vector<std::string> items;
    for (const auto& item : all) items.push_back(quoted(item.get<std::string>()));
    return list_toml(items);
}

Config read_toml(const std::filesystem::path& path) {
    return parse_toml(formats::read_file(path, formats::FileKind::toml), path.string());
}

Config parse_toml(const std::string& text, const std::string& what, UnknownKeys unknown) {
    const toml::table table = parsed(text, what);
    Config read;
    std::vector<std::string> known;
    for (const Setting& s : settings()) {
        if (s.is(kCommand)) continue;
        known.push_back(s.key());
        const toml::node* const node = table.get(s.key());
        if (!node || s.is(kOneStart)) continue;
        const std::string place = what + ": " + s.key();
        check<BadInput>(s.set(read.options, json_of(*node, place)), "{}: {} is required", place, s.kind());
        read.given[s.name] = Config::Source::file;
    }
    read_plan(table, what, read.options.plan);
    std::set<std::string_view> keys(known.begin(), known.end());
    keys.insert({kAdjustable, kStep, kStepsBefore});
    for (const auto& [key, node] : table) {
        if (unknown == UnknownKeys::passed_over || keys.contains(key.str())) continue;
        throw BadInput(
            fmt::format("{}: unknown key '{}'{}", what, shown_name(key.str()), did_you_mean(key.str(), known)));
    }
    return read;
}

std::string to_toml(const TrainOptions& options) {
    std::string all;
    for (const Setting& s : settings())
        if (!s.is(kOneStart)) all += fmt::format("{} = {}\n", s.key(), s.toml(options));
    return all + plan_toml(options.plan);
}

}  // namespace inkling::train
