// --help: flags with their texts and defaults, wrapped at the width of the terminal.
//   app.formatter(std::make_shared<Help>());
//   train.formatter(std::make_shared<Help>(kTrainFlags));   // in groups
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace inkling::cli {

// Of flags by name, without dashes, separated by spaces.
struct FlagGroup {
    const char* name;
    const char* common;
    const char* more;  // --help names these, --help-all explains them
};

constexpr const char* kOn = "on";  // the default of a flag that --no-FLAG turns off

class Help : public CLI::FormatterBase {
  public:
    // Flags that no group has are among the last one's `more`. Without groups all flags are explained.
    explicit Help(std::span<const FlagGroup> groups = {}) : groups_(groups) {}
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

  private:
    std::string grouped(const CLI::App& app, bool all, std::size_t width) const;

    std::span<const FlagGroup> groups_;
};

// `inkling help COMMAND`: the text for the command that `arguments` name, down to `tokenize train`. Throws Usage when
// it is none.
std::string help_on(const CLI::App& app, std::vector<std::string> arguments);

}  // namespace inkling::cli
