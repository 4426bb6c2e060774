#include "cli/usage/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "cli/common.h"
#include "cli/terminal/terminal.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"

namespace inkling::cli {
namespace {

constexpr const char* kExamples = R"(
Examples:
    inkling train --data my.txt --out runs/mine
    inkling generate --model runs/mine --prompt "The "
    inkling eval --model runs/mine --data other.txt
)";

// Longer lines are hard to read.
std::size_t page_width() { return std::clamp<std::size_t>(terminal_columns(STDOUT_FILENO), 40, 120); }

// Wraps `text` after `first`, in lines shorter than `width`; all but the first begin with `indent` spaces.
std::string wrap(const std::string& first, const std::string& text, std::size_t indent, std::size_t width) {
    const bool beside = first.size() < indent || indent == 0;
    std::string result = beside ? "" : first + "\n", line = beside ? first : "";
    line.resize(indent, ' ');
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (line.size() > indent && line.size() + 1 + word.size() >= width) {
            result += line + "\n";
            line.assign(indent, ' ');
        }
        line += (line.size() > indent ? " " : "") + word;
    }
    return result + line + "\n";
}

// --out DIR: the type's name that CLI11 gives is "TEXT:DIR" with the description of a check (flag_values.h), and
// "UINT:[0 - 65535]" with a range.
std::string value_of(const CLI::Option& option) {
    if (!takes_value(option)) return "";
    const std::string name = option.get_type_name(), type = name.substr(0, name.find(':'));
    if (type == "UINT" || type == "INT") return " N";
    if (type == "FLOAT") return " X";
    const std::string checked = name.substr(name.rfind(':') + 1);
    return " " + (type == "TEXT" ? checked : type);
}

// A positional argument has its name. Leaves out --no-FLAG if that is the default.
std::string spellings_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        if (names.empty() || !name.starts_with("no-") || option.get_default_str() == kOn) names.push_back("--" + name);
    if (names.empty()) return option.get_name(true);
    return fmt::format("{}{}", fmt::join(names, ", "), value_of(option));
}

std::string text_of(const CLI::Option& option) {
    std::string standard = option.get_default_str();
    if (standard == "[]" || standard == "{}") standard.clear();  // an empty list, in one version of CLI11 or the other
    return option.get_description() + (option.get_required() ? " (required)"
                                       : standard.empty()    ? ""
                                                             : fmt::format(" (default: {})", standard));
}

std::string row(const CLI::Option& option, std::size_t width) {
    return wrap("  " + spellings_of(option), text_of(option), width < 72 ? 22 : 28, width);
}

bool is_rare(const CLI::Option& option) { return option.get_group().ends_with(kRare); }

// The usage after a command's name: " [flags] [data...]".
std::string usage_of(const CLI::App& app) {
    std::string usage = app.get_subcommands({}).empty() ? " [flags]" : " COMMAND [flags]";
    for (const CLI::Option* const option : app.get_options())
        if (option->get_positional())
            usage += fmt::format(" [{}{}]", option->get_name(true), option->get_expected_max() > 1 ? "..." : "");
    return usage;
}

}  // namespace

// The common ones first, --help last.
std::vector<const CLI::Option*> Help::flags_of(const CLI::App& app, const std::string& group) const {
    const auto has = [&](const CLI::Option* option) {
        const auto begins = [&](const std::string& name) { return option->get_group().starts_with(name); };
        const auto found = std::find_if(groups_.begin(), groups_.end() - 1, begins);
        return *found == group && option != app.get_help_ptr() && option != app.get_help_all_ptr();
    };
    std::vector<const CLI::Option*> flags = app.get_options(has);
    std::stable_partition(flags.begin(), flags.end(), [](const CLI::Option* option) { return !is_rare(*option); });
    for (const CLI::Option* const own : {app.get_help_ptr(), app.get_help_all_ptr()})
        if (own && group == groups_.back()) flags.push_back(own);
    return flags;
}

std::string Help::make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const {
    const std::size_t width = page_width();
    const std::string name = full_name(*app);
    const bool all = mode == CLI::AppFormatMode::All;
    const std::vector<const CLI::App*> commands = app->get_subcommands({});
    std::string text = wrap("", app->get_description(), 0, width) + "\nUsage: " + name + usage_of(*app) + "\n";
    if (!commands.empty()) {
        text += "\nCommands:\n";
        std::size_t left = 0;
        for (const CLI::App* const command : commands) left = std::max(left, command->get_name().size() + 4);
        for (const CLI::App* const command : commands)
            text += wrap("  " + command->get_name(), command->get_description(), left, width);
        if (!app->get_parent()) text += kExamples;
        return text + "\n" + wrap("", fmt::format("{} COMMAND --help shows the flags of a command.", name), 0, width);
    }
    bool left_out = false;
    for (const std::string& group : groups_) {
        std::vector<std::string> more;
        std::string rows;
        bool by_recipe = false;
        for (const CLI::Option* const option : flags_of(*app, group)) {
            if (all || !is_rare(*option)) {
                rows += row(*option, width);
                by_recipe = by_recipe || option->get_default_str() == kByRecipe;
            } else {
                more.push_back("--" + option->get_lnames().front());
            }
        }
        text += fmt::format("\n{}{}:\n{}", group, by_recipe ? " (default *: chosen by the recipe)" : "", rows);
        if (!more.empty()) text += wrap("  more:", fmt::format("{}", fmt::join(more, ", ")), 8, width);
        left_out = left_out || !more.empty();
    }
    return left_out ? text + fmt::format("\n{} --help-all explains the others too.\n", name) : text;
}

std::string help_on(const CLI::App& app, std::vector<std::string> arguments) {
    const CLI::App* command = &app;
    bool all = false;
    for (const std::string& argument : arguments) {
        if (argument == "--help" || argument == "-h") continue;
        if (argument == "--help-all" || argument == "--all") {
            all = true;
            continue;
        }
        command = &find_command(*command, argument);
    }
    return command->help("", all ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal);
}

}  // namespace inkling::cli
