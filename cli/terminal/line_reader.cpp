#include "cli/terminal/line_reader.h"

#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "cli/common.h"
#include "cli/terminal/terminal.h"
#include "formats/files/system_calls.h"

#ifdef INKLING_LIBEDIT
#include <editline/readline.h>
#endif

namespace inkling::cli {
namespace {

bool understands_codes() {
    const char* const kind = std::getenv("TERM");
    return kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

#ifdef INKLING_LIBEDIT
namespace {

bool dropped = false;
std::string shown_prompt;

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

// Bracketed paste: the terminal puts marks around pasted text, so that its line ends do not end messages.
constexpr std::string_view kAskForMarks = "\x1b[?2004h", kNoMarks = "\x1b[?2004l", kPasted = "\x1b[201~";

// Inserts pasted text, including line ends, into the edited line.
int take_paste(int, int) {
    std::string text;
    for (char c = 0; !text.ends_with(kPasted) && formats::retry([&] { return ::read(STDIN_FILENO, &c, 1); }) == 1;)
        text += c == '\r' ? '\n' : c;  // terminals send \r
    if (text.ends_with(kPasted)) text.resize(text.size() - kPasted.size());
    while (text.ends_with('\n')) text.pop_back();
    // the editor shows typed text but not inserted text, so it redraws from the prompt
    const std::string before = shown_prompt + std::string(rl_line_buffer, static_cast<std::size_t>(rl_point));
    const std::size_t rows = cursor_after(before, terminal_columns(STDOUT_FILENO)).row;
    print_codes(fmt::format("\r{}\x1b[J", rows > 0 ? fmt::format("\x1b[{}A", rows) : ""));
    rl_insert_text(text.c_str());
    rl_forced_update_display();
    return 0;
}

}  // namespace
#endif

LineReader::LineReader() : terminal_(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
    // the editor decodes characters by the locale; the default one would drop non-ASCII bytes
    if (terminal_ && (!std::setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)) std::setlocale(LC_CTYPE, "C.UTF-8");
#ifdef INKLING_LIBEDIT
    if (!terminal_) return;
    const ControlKeysAreKeys now;
    rl_initialize();
    rl_add_defun("drop-line", drop_line, '\x03');
    if (!understands_codes()) return;
    rl_add_defun("take-paste", take_paste, '~');  // bound to a key sequence below
    char own[] = "bind ~ ed-insert", pasted[] = "bind \"\\e[200~\" take-paste";
    rl_parse_and_bind(own);
    rl_parse_and_bind(pasted);
#endif
}

std::optional<std::string> LineReader::next(const char* prompt) {
#ifdef INKLING_LIBEDIT
    while (terminal_) {
        const ControlKeysAreKeys now;
        dropped = false;
        rl_done = 0;
        shown_prompt = prompt;
        if (understands_codes()) print_codes(std::string(kAskForMarks));
        char* const line = readline(prompt);
        if (understands_codes()) print_codes(std::string(kNoMarks));
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
    if (terminal_) {
        std::cout << prompt << std::flush;
    }
    std::string text;
    if (std::getline(std::cin, text)) return text;
    std::cin.clear();  // a signal ends only this line
    std::clearerr(stdin);
    return std::nullopt;
}

void LineReader::go_back(const char* prompt, const std::string& line) const {
    if (!terminal_ || !understands_codes()) return;
    const std::size_t column = cursor_after(prompt + line, terminal_columns(STDOUT_FILENO)).column;
    print_codes(fmt::format("\x1b[A\r{}", column > 0 ? fmt::format("\x1b[{}C", column) : ""));
}

}  // namespace inkling::cli
