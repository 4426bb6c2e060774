#include "serve/text_queue.h"

#include <utility>

namespace inkling::serve {

std::optional<TextPiece> TextQueue::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !pieces_.empty() || error_ || unfinished_ == 0; });
    if (error_) throw HttpError(error_->status, std::string(error_->what()), error_->param, error_->code);
    if (pieces_.empty()) return std::nullopt;
    TextPiece piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
}

void TextQueue::abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
}

bool TextQueue::abandoned() {
    const std::lock_guard lock(mutex_);
    return abandoned_ = abandoned_ || (hung_up_ && hung_up_());
}

void TextQueue::push(std::vector<TextPiece> pieces) {
    const std::lock_guard lock(mutex_);
    for (TextPiece& piece : pieces) {
        if (piece.finish != generate::FinishReason::none) --unfinished_;
        pieces_.push_back(std::move(piece));
    }
    changed_.notify_all();
}

void TextQueue::fail(const HttpError& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_.emplace(error.status, std::string(error.what()), error.param, error.code);
    changed_.notify_all();
}

}  // namespace inkling::serve
