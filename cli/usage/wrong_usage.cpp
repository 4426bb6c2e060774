#include "cli/usage/wrong_usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/common.h"
#include "cli/usage/flag_values.h"
#include "engine/base/names.h"
#include "formats/ascii.h"

namespace inkling::cli {
namespace {

// The named command, such as `tokenize train`; the program itself if none was named.
const CLI::App& named_command(const CLI::App& app) {
    const CLI::App* command = &app;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return *command;
}

// The message for an unknown subcommand `name`, or, if that is "", for a missing one.
std::string no_command(const std::string& name, const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* part : command.get_subcommands({})) names.push_back(part->get_name());
    const std::string list = fmt::format(": one of {} is required", fmt::join(names, ", "));
    const std::string meant = did_you_mean(name, names);
    return fmt::format("{}{}: see {} --help", name.empty() ? "no command" : fmt::format("'{}' is not a command", name),
                       meant.empty() ? list : meant, full_name(command));
}

std::vector<std::string> flags_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
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
    const std::string flag = argument.substr(0, argument.find('='));
    return fmt::format("unknown flag {}{}", flag, did_you_mean(flag, flags_of(command)));
}

}  // namespace

std::string full_name(const CLI::App& command) {
    const CLI::App* const parent = command.get_parent();
    return parent ? full_name(*parent) + " " + command.get_name() : command.get_name();
}

const CLI::App& find_command(const CLI::App& app, const std::string& name) {
    for (const CLI::App* command : app.get_subcommands({}))
        if (command->get_name() == name) return *command;
    throw Usage(no_command(name, app));
}

std::function<std::string(const std::string&)> refuse_flag_names(const CLI::App& command) {
    return [&command](const std::string& text) -> std::string {
        const auto names = flags_of(command);
        if (std::find(names.begin(), names.end(), text) == names.end()) return "";
        return fmt::format("a value is required, but the flag {} follows", text);
    };
}

void read_whole_numbers(CLI::App& command) {
    const auto read = [](std::string& text) -> std::string {
        const auto number = formats::parse_number<std::uint64_t>(text);
        if (!number) return fmt::format("expected a whole number of at least 0, got '{}'", text);
        text = std::to_string(*number);
        return "";
    };
    for (CLI::Option* const option : command.get_options())
        if (option->get_type_name() == "UINT") option->transform(CLI::Validator(read, ""));
}

CLI::Validator refuse_other_than(const std::vector<std::string>& known) {
    const auto refuse = [known](const std::string& text) -> std::string {
        if (std::find(known.begin(), known.end(), text) != known.end()) return "";
        return fmt::format("must be one of {}, got '{}'{}", fmt::join(known, ", "), shown_name(text),
                           did_you_mean(text, known));
    };
    return with_names(CLI::Validator(refuse, ""), known);
}

std::string wrong_usage(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments) {
    const CLI::App& command = named_command(app);
    const std::string left = first_left(app, arguments);
    std::string what = error.what();
    const bool missing = dynamic_cast<const CLI::RequiredError*>(&error);
    if (missing && !command.get_subcommands({}).empty()) return no_command(left, command);
    if (!left.empty() && (missing || dynamic_cast<const CLI::ExtrasError*>(&error)))
        what = unknown(left, command);  // this argument may be the missing flag, misspelt
    return fmt::format("{}: see {} --help", what, full_name(command));
}

}  // namespace inkling::cli
