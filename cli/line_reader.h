// Lines from stdin: with editing and history on a terminal, as they are from a file or a pipe.
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

  private:
    bool terminal_;
};

}  // namespace inkling::cli
