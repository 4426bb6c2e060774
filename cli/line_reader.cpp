#include "cli/line_reader.h"

#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#ifdef INKLING_LIBEDIT
#include <editline/readline.h>
#endif

namespace inkling::cli {

LineReader::LineReader() : terminal_(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
    // the editor takes bytes for characters by the locale; in the default one it would drop those that are not ASCII
    if (terminal_ && (!std::setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)) std::setlocale(LC_CTYPE, "C.UTF-8");
}

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
    if (std::getline(std::cin, text)) return text;
    std::cin.clear();  // a signal ends a line, and not all of them
    std::clearerr(stdin);
    return std::nullopt;
}

}  // namespace inkling::cli
