#include "cli/terminal/line_reader.h"

#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#ifdef INKLING_LIBEDIT
#include <editline/readline.h>
#endif

namespace inkling::cli {
#ifdef INKLING_LIBEDIT
namespace {

bool dropped = false;

// Makes Ctrl-C and Ctrl-D ordinary keys while a line is edited. The editor shows its prompt before it changes the
// terminal's mode: until then Ctrl-C would be a signal, after which it keeps waiting, and Ctrl-D would be lost.
struct ControlKeysAreKeys {
    termios before{};
    ControlKeysAreKeys() {
        tcgetattr(STDIN_FILENO, &before);
        termios changed = before;
        changed.c_cc[VINTR] = changed.c_cc[VEOF] = _POSIX_VDISABLE;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &changed);
    }
    ~ControlKeysAreKeys() { tcsetattr(STDIN_FILENO, TCSADRAIN, &before); }
};

int drop_line(int, int) {
    dropped = true;
    rl_done = 1;
    return 0;
}

}  // namespace
#endif

// Returns false without a terminal; else prepares the editor.
static bool begin_lines() {
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return false;
    // the editor decodes characters by the locale; the default one would drop non-ASCII bytes
    if (!std::setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
#ifdef INKLING_LIBEDIT
    const ControlKeysAreKeys now;
    rl_initialize();
    rl_add_defun("drop-line", drop_line, '\x03');
#endif
    return true;
}

std::optional<std::string> next_line(const char* prompt) {
    static const bool terminal = begin_lines();
#ifdef INKLING_LIBEDIT
    while (terminal) {
        const ControlKeysAreKeys now;
        dropped = false;
        rl_done = 0;
        char* const line = readline(prompt);
        if (dropped) {
            std::free(line);
            std::fputc('\n', stderr);
            continue;
        }
        if (!line) return std::nullopt;
        std::string text = line;
        std::free(line);
        if (!text.empty()) add_history(text.c_str());
        return text;
    }
#endif
    if (terminal) std::cout << prompt << std::flush;
    std::string text;
    if (std::getline(std::cin, text)) return text;
    std::cin.clear();  // a signal ends only this line
    std::clearerr(stdin);
    return std::nullopt;
}

}  // namespace inkling::cli
