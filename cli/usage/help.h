// --help: flags with their texts and defaults, wrapped at the width of the terminal.
//   app.formatter(std::make_shared<Help>());
//   train.formatter(std::make_shared<Help>(std::vector<std::string>{"Text", "Model"}));   // groups, in this order
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace inkling::cli {

constexpr const char* kOn = "on";         // the default of a flag that --no-FLAG turns off
constexpr const char* kByRecipe = "*";    // a default that the recipe chooses; the group's head explains it
constexpr const char* kRare = " (rare)";  // at the end of a group's name: only --help-all explains the flag

class Help : public CLI::FormatterBase {
  public:
    // The last group takes the flags of no other, and --help.
    explicit Help(std::vector<std::string> groups = {"Flags"}) : groups_(std::move(groups)) {}
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

  private:
    std::vector<const CLI::Option*> flags_of(const CLI::App& app, const std::string& group) const;

    std::vector<std::string> groups_;
};

// `inkling help COMMAND`: the help of the command that `arguments` name, such as `tokenize train`. Throws Usage if
// there is no such command.
std::string help_on(const CLI::App& app, std::vector<std::string> arguments);

}  // namespace inkling::cli
