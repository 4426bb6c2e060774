// inkling generate --interactive
#include <unistd.h>

#include <csignal>

#include <iostream>
#include <optional>

#include "cli/common.h"
#include "cli/generate.h"
#include "cli/line_reader.h"
#include "formats/utf8.h"

namespace inkling::cli {

int write_interactively(generate::Writer text, const std::shared_ptr<const models::Decoder>& decoder,
                        const data::Tokenizer& tokenizer, const std::string& prompt, const WritingOptions& writing) {
    const std::atomic<int>& signal = catch_signals();
    const bool terminal = isatty(STDIN_FILENO);
    if (terminal)
        std::fputs(
            "an empty line lets the model go on, /new begins another text, Ctrl-C stops it or drops a line, Ctrl-D "
            "ends\n",
            stderr);
    const auto write = [&](const std::string& line, bool echo) {
        generate::Writer* const batch = &text;
        if (!writing.json && echo) print(line);
        print_text(text, std::span(&batch, 1), tokenizer, writing);
        if (!writing.json) print("\n");
    };
    const auto go_on = [&] {  // on a terminal, Ctrl-C stops the text alone
        if (!terminal || signal != SIGINT) return signal == 0;
        forget_signal();
        return true;
    };
    bool going = true;
    if (!prompt.empty()) {
        write(prompt, !writing.no_prompt);
        going = go_on();
    }
    LineReader lines;
    while (going) {
        const std::optional<std::string> line = lines.next("> ");
        if (!line && terminal) std::fputc('\n', stderr);  // what comes next has a line of its own
        if (!line && terminal && signal == SIGINT) {      // this line is dropped; Ctrl-D ends
            forget_signal();
            continue;
        }
        if (!line) break;
        if (terminal && signal == SIGINT) forget_signal();  // it came before the line
        if (*line == "/new") {
            text = generate::Writer(decoder, &tokenizer, writing.options);
            continue;
        }
        try {
            check<BadInput>(formats::find_invalid_utf8(*line) == std::string::npos, "this line is not UTF-8");
            text.add(*line);
            write(*line, !terminal && !writing.no_prompt);
        } catch (const BadInput& e) {  // the next line may be better
            std::fprintf(stderr, "inkling: %s\n", e.what());
        }
        going = go_on();
    }
    return signal == 0 ? 0 : 128 + signal;
}

}  // namespace inkling::cli
