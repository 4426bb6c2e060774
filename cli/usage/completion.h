// Completion for shells. The scripts of completion/, which cmake --install installs, ask the program:
//   inkling __complete train --recipe nano      // "nanogpt-cpu"
// Each line of the answer is a completion of the last word, a tab, and its description; ":file" and ":directory" stand
// for the paths that the shell itself offers.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace inkling::cli {

// `words`: those after the program's name, up to the word to complete, which may be empty.
std::string complete(CLI::App& app, std::vector<std::string> words);

}  // namespace inkling::cli
