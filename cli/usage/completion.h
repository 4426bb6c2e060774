// Completion for shells. Their scripts, which the build writes (manual.h), ask the program:
//   inkling __complete train --recipe nano      // "nanogpt-cpu"
// Each line is a word that the last one may become, with what it is behind a tab; ":file" and ":directory" stand for
// the paths that the shell itself offers.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace inkling::cli {

// `words`: all behind the program's name, up to the one that is completed, which may be "".
std::string complete(CLI::App& app, std::vector<std::string> words);

extern const char *const kBashCompletion, *const kZshCompletion, *const kFishCompletion;

}  // namespace inkling::cli
