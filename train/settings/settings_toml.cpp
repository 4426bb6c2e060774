// Writes and reads settings as config.toml.
#include <toml++/toml.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "engine/base/check.h"
#include "engine/base/suggest.h"
#include "formats/files/file.h"
#include "formats/toml_nesting.h"
#include "formats/utf8.h"
#include "train/settings/settings.h"

namespace inkling::train {
namespace {

// Reads a string, or { url = "caf%E9.txt" }, which encodes a name that is not UTF-8.
std::string read_string(const toml::node& node, const std::string& what, const char* required) {
    const toml::node* const url = node.is_table() ? node.as_table()->get("url") : nullptr;
    const bool percent = url && url->is_string() && node.as_table()->size() == 1;
    check<BadInput>(percent || node.is_string(), "{}: {} is required", what, required);
    std::string text = percent ? formats::from_percent(*url->value<std::string>(), what) : *node.value<std::string>();
    // the system would cut a name at a NUL byte
    check<BadInput>(text.find('\0') == std::string::npos, "{}: a text without NUL bytes is required", what);
    return text;
}

double read_double(const toml::node& node, const std::string& what) {
    check<BadInput>(node.is_number(), "{}: a number is required", what);
    return *node.value<double>();
}

void read_node(const toml::node& node, const Setting& setting, const std::string& what) {
    std::visit(
        [&](auto field) {
            using Field = decltype(field);
            if constexpr (std::is_same_v<Field, std::vector<std::string>*>) {
                const toml::array* const list = node.as_array();
                check<BadInput>(list != nullptr, "{}: a list of strings is required", what);
                field->clear();
                for (const auto& item : *list) field->push_back(read_string(item, what, "a list of strings"));
            } else if constexpr (std::is_same_v<Field, std::string*>) {
                *field = read_string(node, what, "a string");
            } else if constexpr (std::is_same_v<Field, Choice>) {
                field.read("--" + setting.name, read_string(node, what, "a string"));
            } else if constexpr (std::is_same_v<Field, bool*>) {
                check<BadInput>(node.is_boolean(), "{}: true or false is required", what);
                *field = *node.value<bool>();
            } else if constexpr (std::is_same_v<Field, double*>) {
                *field = read_double(node, what);
            } else if constexpr (std::is_same_v<Field, Duration>) {
                *field.seconds = read_double(node, what);
            } else {
                check<BadInput>(node.is_integer() && *node.value<std::int64_t>() >= 0,
                                "{}: a whole number of at least 0 is required", what);
                *field = static_cast<std::uint64_t>(*node.value<std::int64_t>());
            }
        },
        setting.value);
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

// The plan in config.toml. Older versions wrote at most one change, as numbers.
constexpr const char *kAdjustable = "replan", *kStep = "replan_step", *kStepsBefore = "planned_iters";

std::vector<std::size_t> read_steps(const toml::table& table, const char* key, const std::string& what) {
    std::vector<std::size_t> steps;
    const auto read = [&](const toml::node& node) {
        const std::int64_t step = node.is_integer() ? *node.value<std::int64_t>() : -1;
        check<BadInput>(step >= 0, "{}: {}: whole numbers of at least 0 are required", what, key);
        steps.push_back(static_cast<std::size_t>(step));
    };
    const toml::node* const node = table.get(key);
    if (node && node->is_array())
        for (const toml::node& item : *node->as_array()) read(item);
    else if (node)
        read(*node);
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
    plan.changes.clear();
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (steps[i] > 0) plan.changes.push_back({steps[i], before[i]});
}

std::string plan_toml(const RunPlan& plan) {
    if (!plan.adjustable && plan.changes.empty()) return "";
    std::string steps, before;
    for (const RunPlan::Change& change : plan.changes) {
        steps += fmt::format("{}{}", steps.empty() ? " " : ", ", change.step);
        before += fmt::format("{}{}", before.empty() ? " " : ", ", change.steps_before);
    }
    return fmt::format("{} = {}\n{} = [{} ]\n{} = [{} ]\n", kAdjustable, plan.adjustable, kStep, steps, kStepsBefore,
                       before);
}

}  // namespace

std::string Setting::toml() const {
    if (const auto* const list = std::get_if<std::vector<std::string>*>(&value)) {
        std::string all;
        for (const std::string& item : **list) all += (all.empty() ? " " : ", ") + quoted(item);
        return all.empty() ? "[]" : "[" + all + " ]";
    }
    const bool is_text = std::holds_alternative<std::string*>(value) || std::holds_alternative<Choice>(value);
    return is_text ? quoted(text()) : text();
}

std::set<std::string> read_toml(const std::filesystem::path& path, TrainOptions& options) {
    return parse_toml(formats::read_file(path, formats::FileKind::toml), path.string(), options);
}

std::set<std::string> parse_toml(const std::string& text, const std::string& what, TrainOptions& options,
                                 UnknownKeys unknown) {
    const toml::table table = parsed(text, what);
    std::set<std::string> read, keys;
    std::vector<std::string> known;
    for (const Setting& s : settings(options)) {
        known.push_back(s.key());
        const toml::node* const node = table.get(s.key());
        if (!node || s.is(kOneStart)) continue;
        read_node(*node, s, what + ": " + s.key());
        read.insert(s.name);
    }
    keys.insert(known.begin(), known.end());
    keys.insert({kAdjustable, kStep, kStepsBefore});
    read_plan(table, what, options.plan);
    for (const auto& [key, node] : table) {
        if (unknown == UnknownKeys::passed_over || keys.contains(std::string(key.str()))) continue;
        throw BadInput(
            fmt::format("{}: unknown key '{}'{}", what, shown_name(key.str()), did_you_mean(key.str(), known)));
    }
    return read;
}

std::string to_toml(TrainOptions options) {
    std::string all;
    for (const Setting& s : settings(options))
        if (!s.is(kOneStart)) all += fmt::format("{} = {}\n", s.key(), s.toml());
    return all + plan_toml(options.plan);
}

}  // namespace inkling::train
