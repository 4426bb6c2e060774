// inkling generate --interactive
#include <unistd.h>

#include <csignal>

#include <iostream>
#include <optional>

#include "cli/common.h"
#include "cli/generate.h"
#include "cli/terminal/line_reader.h"
#include "cli/usage/unknown_flag.h"
#include "formats/utf8.h"

namespace inkling::cli {
namespace {

constexpr const char* kPrompt = "> ";
constexpr const char* kHelp =
    "text            the model continues it, and all before it\n"
    "an empty line   the model goes on\n"
    "/new            begins another text\n"
    "/quit, Ctrl-D   ends\n"
    "Ctrl-C          stops the model, or drops a line\n";

}  // namespace

int write_interactively(generate::Sequence text, const std::shared_ptr<const models::InferenceModel>& inference,
                        data::Tokenizer& tokenizer, const std::string& prompt, const WritingOptions& writing) {
    const std::atomic<int>& signal = catch_signals();
    const bool terminal = isatty(STDIN_FILENO);
    if (terminal) std::fputs("type text for the model to continue; /help: what else\n", stderr);
    LineReader lines;
    const auto write = [&](const std::string& line, bool typed) {
        generate::Sequence* const batch = &text;
        if (!writing.json && typed) lines.go_back(kPrompt, line);
        if (!writing.json && !(typed && terminal) && !writing.no_prompt) print(line);
        print_text(text, std::span(&batch, 1), tokenizer, line, writing);
        if (!writing.json) print("\n");
    };
    const auto go_on = [&] {  // on a terminal, Ctrl-C stops only the text
        if (!terminal || signal != SIGINT) return signal == 0;
        forget_signal();
        return true;
    };
    bool going = true;
    if (!prompt.empty()) {
        write(prompt, false);
        going = go_on();
    }
    while (going) {
        const std::optional<std::string> line = lines.next(kPrompt);
        if (!line && terminal) std::fputc('\n', stderr);  // the next output starts a new line
        if (!line && terminal && signal == SIGINT) {      // drop this line; Ctrl-D ends
            forget_signal();
            continue;
        }
        if (!line) break;
        if (terminal && signal == SIGINT) forget_signal();  // from before this line
        if (*line == "/new") {
            text = generate::Sequence(inference, &tokenizer, writing.options);
            continue;
        }
        if (*line == "/quit") break;
        if (*line == "/help") {
            std::fputs(kHelp, stderr);
            continue;
        }
        try {
            check<BadInput>(formats::find_invalid_utf8(*line) == std::string::npos, "this line is not UTF-8");
            text.add(*line);
            write(*line, true);
            say_replaced(tokenizer);   // after the text, which continues the typed line
        } catch (const BadInput& e) {  // continue with the next line
            say(fmt::format("inkling: {}", e.what()));
        }
        going = go_on();
    }
    return signal == 0 ? 0 : 128 + signal;
}

}  // namespace inkling::cli
