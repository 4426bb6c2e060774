// Reads lines from stdin, with editing and history on a terminal. A text pasted into a terminal is one line, even if it
// holds line ends.
#pragma once

#include <optional>
#include <string>

namespace inkling::cli {

class LineReader {
  public:
    LineReader();

    // Returns the next line without its end; nothing at the end of the input or after a signal. Shows the prompt only
    // on a terminal.
    std::optional<std::string> next(const char* prompt);

    // Moves the cursor from the row below a typed line back to its end; does nothing without line editing.
    void go_back(const char* prompt, const std::string& line) const;

  private:
    bool terminal_;
};

}  // namespace inkling::cli
