// Lines from stdin: with editing and history on a terminal, as they are from a file or a pipe. What is pasted into a
// terminal is one line, whatever line ends are in it.
#pragma once

#include <optional>
#include <string>

namespace inkling::cli {

class LineReader {
  public:
    LineReader();

    // The next line without its end; nothing at the end of the input, or after a signal. The prompt is shown on a
    // terminal alone.
    std::optional<std::string> next(const char* prompt);

    // Moves the cursor from the row below a line that was typed back behind it; nothing where lines are not edited.
    void go_back(const char* prompt, const std::string& line) const;

  private:
    bool terminal_;
};

}  // namespace inkling::cli
