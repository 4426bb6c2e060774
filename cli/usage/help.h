// --help: flags with their texts and defaults, wrapped at the width of the terminal.
//   app.formatter(std::make_shared<Help>());
//   train.formatter(std::make_shared<Help>(std::vector<std::string>{"Text", "Model"}));   // groups, in this order
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace inkling::cli {

constexpr const char* kOn = "on";         // the default of a flag that --no-FLAG turns off
constexpr const char* kRare = " (rare)";  // at the end of a group's name: only --help-all explains the flag

class Help : public CLI::FormatterBase {
  public:
    // --help itself is in the last group. Without groups, all flags are explained.
    explicit Help(std::vector<std::string> groups = {}) : groups_(std::move(groups)) {}
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

    // All flags and arguments of a command in the order of its help; a single section without a name if it has no
    // groups.
    struct Section {
        std::string name;
        std::vector<const CLI::Option*> common, more;
    };
    std::vector<Section> sections(const CLI::App& app) const;

  private:
    std::string grouped(const CLI::App& app, bool all, std::size_t width) const;

    std::vector<std::string> groups_;
};

std::vector<const CLI::App*> commands_of(const CLI::App& app);

constexpr const char* kExamples = R"(
Examples:
    inkling train --data my.txt --out runs/mine
    inkling generate --model runs/mine --prompt "The "
    inkling eval --model runs/mine --data other.txt
)";

// `inkling help COMMAND`: the help of the command that `arguments` name, such as `tokenize train`. Throws Usage if
// there is no such command.
std::string help_on(const CLI::App& app, std::vector<std::string> arguments);

}  // namespace inkling::cli
