#include "serve/text_job.h"

#include <algorithm>
#include <utility>

namespace inkling::serve {

TextJob::TextJob(generate::Writer prompt, std::size_t n, std::size_t first, bool in_pieces,
                 std::shared_ptr<TextQueue> queue)
    : prompt_(std::move(prompt)), n_(n), first_(first), in_pieces_(in_pieces), queue_(std::move(queue)) {}

void TextJob::read() {
    prompt_.read();
    for (std::size_t i = 0; i < n_; ++i) writers_.push_back(prompt_.another(i));
    sent_.resize(n_);
}

void TextJob::publish() {
    std::vector<TextPiece> pieces;
    for (std::size_t i = 0; i < writers_.size(); ++i) {
        generate::Writer& writer = writers_[i];
        if (sent_[i].all || (!in_pieces_ && !writer.finished())) continue;
        const auto& logprobs = writer.logprobs();
        pieces.push_back(
            {.index = first_ + i,
             .text = writer.take(),
             .logprobs = {logprobs.begin() + static_cast<std::ptrdiff_t>(sent_[i].logprobs), logprobs.end()},
             .end_logprobs = writer.end_logprobs(),
             .tokens = writer.generated().size(),
             .finish = writer.finish_reason()});
        sent_[i] = {logprobs.size(), writer.finished()};
    }
    if (!pieces.empty()) queue_->push(std::move(pieces));
}

bool TextJob::finished() const {
    return std::all_of(writers_.begin(), writers_.end(), [](const auto& writer) { return writer.finished(); });
}

}  // namespace inkling::serve
