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
namespace {

class Conversation {
  public:
    Conversation(std::shared_ptr<const models::Decoder> decoder, const data::Tokenizer& tokenizer,
                 const WritingOptions& writing)
        : decoder_(std::move(decoder)),
          tokenizer_(tokenizer),
          writing_(writing),
          generator_(decoder_, writing.options) {}

    void start_anew() { generator_ = models::Generator(decoder_, writing_.options); }

    // Adds the line to the text, and what the model makes of it, up to a stop text or Ctrl-C.
    void go_on(const std::string& line, bool echo) {
        std::vector<std::int32_t> ids;
        if (!line.empty()) {
            check<BadInput>(formats::find_invalid_utf8(line) == std::string::npos, "this line is not UTF-8");
            ids = tokenizer_.encode(line);
        } else if (generator_.tokens().empty() || generator_.at_end()) {
            ids = beginning(tokenizer_, decoder_->config());
        }
        generator_.add(ids);
        generator_.allow(writing_.options.max_tokens);
        std::vector<WrittenText> texts;
        texts.emplace_back(std::move(generator_), tokenizer_, writing_.stops, writing_.logprobs);
        WrittenText& text = texts[0];
        const std::atomic<int>& signal = catch_signals();
        if (!writing_.json && echo) print(line);
        while (true) {
            if (signal != 0) text.end("interrupted");
            if (!writing_.json) print(text.take());
            if (text.done()) break;
            WrittenText::advance(texts);
        }
        print(writing_.json ? text.json(line.empty() ? 0 : ids.size(), writing_.options.seed).dump() + "\n" : "\n");
        generator_ = text.release();
    }

  private:
    std::shared_ptr<const models::Decoder> decoder_;
    const data::Tokenizer& tokenizer_;
    const WritingOptions& writing_;
    models::Generator generator_;
};

}  // namespace

int write_interactively(std::shared_ptr<const models::Decoder> decoder, const data::Tokenizer& tokenizer,
                        const std::string& prompt, const WritingOptions& writing) {
    const std::atomic<int>& signal = catch_signals();
    const bool terminal = isatty(STDIN_FILENO);
    if (terminal)
        std::fputs(
            "an empty line lets the model go on, /new begins another text, Ctrl-C stops it or drops a line, Ctrl-D "
            "ends\n",
            stderr);
    Conversation conversation(std::move(decoder), tokenizer, writing);
    const auto say = [&](const std::string& line, bool echo) {
        try {
            conversation.go_on(line, echo);
        } catch (const BadInput& e) {  // the next line may be better
            std::fprintf(stderr, "inkling: %s\n", e.what());
        }
        if (!terminal || signal != SIGINT) return signal == 0;
        forget_signal();
        return true;
    };
    bool going = prompt.empty() || say(prompt, !writing.no_prompt);
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
            conversation.start_anew();
        } else {
            going = say(*line, !terminal && !writing.no_prompt);
        }
    }
    return signal == 0 ? 0 : 128 + signal;
}

}  // namespace inkling::cli
