// Lines from stdin, with editing and history on a terminal.
#pragma once

#include <optional>
#include <string>

namespace inkling::cli {

// Returns the next line without its end; nothing at the end of the input or after a signal. Shows the prompt only on a
// terminal.
std::optional<std::string> next_line(const char* prompt);

}  // namespace inkling::cli
