// Pages of the manual and completion for shells, made from the flags that the commands have:
//   inkling manual build/share      // man/man1/inkling.1, man/man1/inkling-train.1, ..., and what shells load
// The build runs this; cmake --install puts the files where man and shells look for them.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace inkling::cli {

// Of the program, or of one of its commands with those below it, in the language of man.
std::string man_page(const CLI::App& command);

// Functions for bash, zsh and fish. They ask nothing of the program.
std::string bash_completion(CLI::App& app);
std::string zsh_completion(CLI::App& app);
std::string fish_completion(CLI::App& app);

void write_manual(CLI::App& app, const std::filesystem::path& folder);

}  // namespace inkling::cli
