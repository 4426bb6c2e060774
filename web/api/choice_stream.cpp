#include "web/api/choice_stream.h"

#include <algorithm>
#include <utility>

namespace inkling::web {

void ChoiceStream::add_prompt(generate::Sequence prompt) { jobs_.push_back({*this, choices(), std::move(prompt)}); }

std::size_t ChoiceStream::prompt_tokens() const {
    std::size_t n = 0;
    for (const Job& job : jobs_) n += job.prompt.prompt_tokens();
    return n;
}

std::optional<ChoicePiece> ChoiceStream::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !pieces_.empty() || failed_ || finished_ == choices(); });
    if (failed_ && !error_) throw HttpError(500, "out of memory");
    if (error_) throw HttpError(error_->status, std::string(error_->what()), error_->param, error_->code);
    if (pieces_.empty()) return std::nullopt;
    ChoicePiece piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
}

void ChoiceStream::abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
}

bool ChoiceStream::abandoned() {
    const std::lock_guard lock(mutex_);
    return abandoned_ = abandoned_ || (hung_up_ && hung_up_());
}

void ChoiceStream::fail(FunctionRef<HttpError()> error) noexcept {
    const std::lock_guard lock(mutex_);
    try {
        if (!failed_) error_.emplace(error());
    } catch (const std::bad_alloc&) {
    }
    failed_ = true;
    changed_.notify_all();
}

bool ChoiceStream::failed() {
    const std::lock_guard lock(mutex_);
    return failed_;
}

bool ChoiceStream::Job::reads_again() const {
    return std::any_of(choices.begin(), choices.end(), [](const Choice& choice) {
        return !choice.sequence.finished() && choice.sequence.reads_again();
    });
}

bool ChoiceStream::Job::read_piece() {
    if (!choices.empty())
        return std::any_of(choices.begin(), choices.end(), [](Choice& choice) {
            return !choice.sequence.finished() && choice.sequence.prefill_piece();
        });
    if (prompt.prefill_piece()) return true;
    for (std::size_t i = 0; i + 1 < count(); ++i) choices.push_back({prompt.fork(i)});
    choices.push_back({std::move(prompt).fork(count() - 1)});
    return false;
}

void ChoiceStream::Job::publish() {
    const std::lock_guard lock(stream.mutex_);
    for (std::size_t i = 0; i < choices.size(); ++i) {
        auto& [sequence, logprobs_sent, all_sent] = choices[i];
        if (all_sent || (!stream.in_pieces_ && !sequence.finished())) continue;
        const auto& logprobs = sequence.logprobs();
        stream.pieces_.push_back(
            {.index = first + i,
             .text = sequence.take(),
             .logprobs = {logprobs.begin() + static_cast<std::ptrdiff_t>(logprobs_sent), logprobs.end()},
             .end_logprobs = sequence.end_logprobs(),
             .tokens = sequence.generated().size(),
             .finish = sequence.finish_reason()});
        logprobs_sent = logprobs.size();
        all_sent = sequence.finished();
        if (all_sent) ++stream.finished_;
    }
    stream.changed_.notify_all();
}

bool ChoiceStream::Job::finished() const {
    return stream.failed() ||
           std::all_of(choices.begin(), choices.end(), [](const Choice& choice) { return choice.sequence.finished(); });
}

}  // namespace inkling::web
