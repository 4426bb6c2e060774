#include "data/text/examples.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "data/text/records.h"
#include "engine/base/check.h"
#include "formats/json.h"

namespace inkling::data {

using nlohmann::json;

namespace {

constexpr int kDepth = 32;  // of JSON

json parse_line(std::string_view line) { return formats::parse_json(line, "it", kDepth); }

// Returns read(), or false if it throws BadInput.
template <class Read>
bool holds(const Read& read) {
    try {
        return read();
    } catch (const BadInput&) {
        return false;
    }
}

}  // namespace

std::string Example::place() const { return fmt::format("{} {}", in_list ? "record" : "line", line); }

std::string to_line(const std::vector<ChatMessage>& messages) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ChatMessage& m : messages) {
        list.push_back({{"role", m.role}, {"content", m.content}});
        if (!m.learned) list.back()["weight"] = 0;
    }
    return nlohmann::ordered_json{{"messages", list}}.dump() + "\n";
}

ExampleLines read_examples(std::string_view text, bool skip_bad_lines, ExampleLayout layout) {
    ExampleLines all;
    const bool list = layout == ExampleLayout::list;
    const auto add = [&](std::size_t number, const auto& read_json) {
        try {
            Example e = parse_example(read_json());
            e.in_list = list;
            e.line = number;
            if (!all.list.empty() && all.list[0].shape != e.shape) {
                throw BadInput(fmt::format("it holds {}, and {} {}: one file holds one shape", name_of(e.shape),
                                           all.list[0].place(), name_of(all.list[0].shape)));
            }
            all.list.push_back(std::move(e));
        } catch (const BadInput& e) {
            const std::string what = fmt::format("{} {}: {}", list ? "record" : "line", number, e.what());
            if (!skip_bad_lines) throw BadInput(what);
            if (all.bad_lines++ == 0) all.first_bad_line = what;
        }
    };
    if (list) {
        json records = formats::parse_json(text, "it", kDepth + 1);
        if (!records.is_array()) records = json::array({std::move(records)});
        for (std::size_t i = 0; i < records.size(); ++i) add(i + 1, [&]() -> const json& { return records[i]; });
    } else {
        each_line(text, [&](std::string_view line, std::size_t number) {
            add(number, [&] { return parse_line(line); });
            return true;
        });
    }
    return all;
}

ExampleLayout layout_of(std::string_view text, bool any_object) {
    constexpr std::size_t kLines = 100;
    const auto is_good = [&](const json& j) {
        if (!any_object) parse_example(j);
        return j.is_object() && !j.empty();
    };
    const auto parse_all = [&] { return formats::parse_json(text, "it", kDepth + 1); };
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    if (text.substr(begin).starts_with('[')) {
        const std::size_t first = text.find_first_not_of(" \t\r\n", begin + 1);
        const bool list = first != std::string_view::npos && text[first] == '{' &&
                          (any_object || holds([&] { return is_good(parse_all()[0]); }));
        return list ? ExampleLayout::list : ExampleLayout::none;
    }
    std::size_t n = 0;
    bool found = false;
    each_line(text, [&](std::string_view line, std::size_t) {
        found = line.find_first_not_of(" \t\r") == line.find('{') && holds([&] {
                    const json j = parse_line(line);
                    return n == 0 ? is_good(j) : (parse_example(j), true);
                });
        return !found && ++n < kLines;
    });
    if (found) return ExampleLayout::lines;
    const bool one = text.substr(begin).starts_with('{') && holds([&] { return is_good(parse_all()); });
    return one ? ExampleLayout::list : ExampleLayout::none;
}

}  // namespace inkling::data
