// Carries the choices of one request from the scheduler's thread, which generates them, to the request's thread:
//   auto stream = std::make_shared<ChoiceStream>(n, in_pieces, hung_up);
//   stream->add_prompt(std::move(sequence));
//   scheduler.add(stream);
//   while (const auto piece = stream->wait()) send(piece->text);
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/function_ref.h"
#include "generate/sequence.h"
#include "web/http/http_error.h"

namespace inkling::web {

// A new piece of a choice.
struct ChoicePiece {
    std::size_t index = 0;  // which choice
    std::string text = "";
    std::vector<generate::TokenLogprobs> logprobs = {};
    std::optional<generate::TokenLogprobs> end_logprobs = std::nullopt;  // for the token that ended the text
    std::size_t tokens = 0;                                              // generated so far
    generate::FinishReason finish = generate::FinishReason::none;
};

class ChoiceStream {
  public:
    // Each prompt gets `n` choices. `in_pieces`: pieces arrive as they are generated, else each choice when finished.
    ChoiceStream(std::size_t n, bool in_pieces, std::function<bool()> hung_up)
        : n_(n), in_pieces_(in_pieces), hung_up_(std::move(hung_up)) {}

    // Called by the request's thread. The choices are samples 0 .. n - 1 of the prompt's seed.
    void add_prompt(generate::Sequence prompt);
    std::size_t choices() const { return jobs_.size() * n_; }
    // The next piece, in order within each choice; none: all are finished. Rethrows errors.
    std::optional<ChoicePiece> wait();
    void abandon();  // stop generating
    // The prompt of a choice, and the tokens of all prompts; valid after the first piece.
    const generate::Sequence& prompt_of(std::size_t choice) const { return jobs_[choice / n_].prompt; }
    std::size_t prompt_tokens() const;

    // Used by the scheduler's thread: one prompt and the choices that continue it.
    struct Job {
        ChoiceStream& stream;
        std::size_t first;  // index of its first choice in the request
        generate::Sequence prompt;
        struct Choice {
            generate::Sequence sequence;
            std::size_t logprobs_sent = 0;
            bool all_sent = false;
        };
        std::vector<Choice> choices = {};  // empty until the prompt is read

        std::size_t count() const { return stream.n_; }
        bool read_piece();         // of the prompt, or of the context that is processed again; false: no token is left
        bool reads_again() const;  // the context of a choice is full, so that a part of it is processed again
        void publish();            // sends new pieces
        bool finished() const;     // or failed
    };
    std::deque<Job>& jobs() { return jobs_; }
    void fail(FunctionRef<HttpError()> error) noexcept;  // wait() throws the first; without memory for it, another
    bool failed();
    bool abandoned();
    double seconds() const { return seconds_now() - start_; }  // since the request arrived

  private:
    const double start_ = seconds_now();
    const std::size_t n_;
    const bool in_pieces_;
    const std::function<bool()> hung_up_;
    std::deque<Job> jobs_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<ChoicePiece> pieces_;
    std::size_t finished_ = 0;  // choices whose last piece was sent
    bool failed_ = false;
    std::optional<HttpError> error_;
    bool abandoned_ = false;
};

}  // namespace inkling::web
