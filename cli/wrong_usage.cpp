#include "cli/wrong_usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace inkling::cli {
namespace {

// The command that was named, down to `tokenize train`; the program itself when there was none.
const CLI::App& named_command(const CLI::App& app) {
    const CLI::App* command = &app;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return *command;
}

std::string full_name(const CLI::App& command) {
    const CLI::App* const parent = command.get_parent();
    return parent ? full_name(*parent) + " " + command.get_name() : command.get_name();
}

std::vector<std::string> flags_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

// How many letters must be added, dropped or changed (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

// The flag that was likely meant: the nearest by spelling, else one that begins or ends alike; "" when none is near.
std::string meant(const std::string& flag, const CLI::App& command) {
    const std::vector<std::string> names = flags_of(command);
    std::string best;
    std::size_t least = flag.size() < 6 ? 2 : 3;
    for (const std::string& name : names)
        if (const std::size_t d = distance(flag, name); d < least) least = d, best = name;
    if (!best.empty() || flag.size() < 5) return best;
    for (const std::string& name : names)
        if (name.starts_with(flag) || name.ends_with(flag.substr(2))) return name;
    return "";
}

// The first argument, in the order given, that no flag or command took; "" if there is none.
std::string first_left(const CLI::App& app, const std::vector<std::string>& arguments) {
    const std::vector<std::string> left = app.remaining(true);
    const auto is_left = [&](const std::string& a) { return std::find(left.begin(), left.end(), a) != left.end(); };
    const auto found = std::find_if(arguments.begin(), arguments.end(), is_left);
    return found == arguments.end() ? "" : *found;
}

std::string unknown(const std::string& argument, const CLI::App& command) {
    if (!argument.starts_with('-')) return fmt::format("unexpected argument '{}'", argument);
    const std::string flag = argument.substr(0, argument.find('=')), other = meant(flag, command);
    return fmt::format("unknown flag {}{}", flag, other.empty() ? "" : fmt::format(", did you mean {}", other));
}

// Of a program or command that needs another behind it.
std::string no_command(const std::string& argument, const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* part : command.get_subcommands({})) names.push_back(part->get_name());
    return fmt::format("{}: one of {} is required",
                       argument.empty() ? "no command" : fmt::format("'{}' is not a command", argument),
                       fmt::join(names, ", "));
}

}  // namespace

std::function<std::string(const std::string&)> refuse_flag_names(const CLI::App& command) {
    return [&command](const std::string& text) -> std::string {
        const auto names = flags_of(command);
        if (std::find(names.begin(), names.end(), text) == names.end()) return "";
        return fmt::format("a value is required, but the flag {} follows", text);
    };
}

std::string wrong_usage(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments) {
    const CLI::App& command = named_command(app);
    const std::string left = first_left(app, arguments);
    std::string what = error.what();
    const bool missing = dynamic_cast<const CLI::RequiredError*>(&error);
    if (missing && !command.get_subcommands({}).empty())
        what = no_command(left, command);
    else if (!left.empty() && (missing || dynamic_cast<const CLI::ExtrasError*>(&error)))
        what = unknown(left, command);  // and what is missing may be what was meant
    return fmt::format("{}: see {} --help", what, full_name(command));
}

}  // namespace inkling::cli
