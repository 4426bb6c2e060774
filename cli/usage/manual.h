// Writes manual pages, made from the commands' flags, and completion for shells (completion.h):
//   inkling manual build/share      // man/man1/inkling.1, man/man1/inkling-train.1, ..., and what shells load
// The build runs this; cmake --install puts the files where man and shells look for them.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace inkling::cli {

// The page of the program, or of a command with its subcommands, in the language of man.
std::string man_page(const CLI::App& command);

void write_manual(CLI::App& app, const std::filesystem::path& folder);

}  // namespace inkling::cli
