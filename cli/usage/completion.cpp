#include "cli/usage/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/usage/flag_values.h"

namespace inkling::cli {
std::string complete(CLI::App& app, std::vector<std::string> words) {
    if (words.empty()) words.emplace_back();
    std::string word = words.back();
    words.pop_back();
    if (word == "=") {  // bash splits --flag=value into three words
        word.clear();
    } else if (!words.empty() && words.back() == "=") {
        words.pop_back();
    } else if (const std::size_t at = word.find('='); word.starts_with("--") && at != std::string::npos) {
        words.push_back(word.substr(0, at));
        word.erase(0, at + 1);
    }
    std::string lines;
    const auto offer = [&](const std::string& name, const std::string& text = "") {
        const std::string shown = text.substr(0, text.find(';'));  // only the first part: space is short
        if (name.starts_with(word)) lines += name + (shown.empty() ? "" : "\t" + shown) + "\n";
    };
    const auto offer_values = [&](CLI::Option& option) {
        for (const std::string& value : values_of(option))
            value == kFiles || value == kFolders ? static_cast<void>(lines += value + "\n") : offer(value);
    };

    const bool help = !words.empty() && words.front() == "help";  // CLI11 does not know this command
    CLI::App* command = &app;
    for (const std::string& given : words)
        for (CLI::App* const part : command->get_subcommands({}))
            if (part->get_name() == given) command = part;
    const bool behind_flag = !words.empty() && words.back().starts_with('-') && !help;
    CLI::Option* const flag = behind_flag ? command->get_option_no_throw(words.back()) : nullptr;
    if (flag && takes_value(*flag)) {
        offer_values(*flag);
    } else if (word.starts_with('-') && !help) {
        for (const CLI::Option* const option : command->get_options()) {
            for (const std::string& name : option->get_snames()) offer("-" + name, option->get_description());
            for (const std::string& name : option->get_lnames()) offer("--" + name, option->get_description());
        }
    } else {
        for (const CLI::App* const part : command->get_subcommands({}))
            offer(part->get_name(), part->get_description());
        if (command == &app && !help) offer("help", "Show the flags of a command");
        for (CLI::Option* const option : command->get_options([&](CLI::Option*) { return !help; }))
            if (option->get_positional()) offer_values(*option);
    }
    return lines;
}

}  // namespace inkling::cli
