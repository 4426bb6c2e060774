#include "cli/line_reader.h"

#include <unistd.h>

#include <iostream>

#ifdef INKLING_LIBEDIT
#include <editline/readline.h>

#include <cstdlib>
#endif

namespace inkling::cli {

LineReader::LineReader() : terminal_(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {}

std::optional<std::string> LineReader::next(const char* prompt) {
#ifdef INKLING_LIBEDIT
    if (terminal_) {
        char* const line = readline(prompt);
        if (!line) return std::nullopt;
        std::string text = line;
        std::free(line);
        if (!text.empty()) add_history(text.c_str());
        return text;
    }
#endif
    if (terminal_) {
        std::cout << prompt << std::flush;
    }
    std::string text;
    if (!std::getline(std::cin, text)) return std::nullopt;
    return text;
}

}  // namespace inkling::cli
