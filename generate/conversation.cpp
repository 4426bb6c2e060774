#include "generate/conversation.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace inkling::generate {

using data::ChatMessage;

Conversation::Conversation(std::shared_ptr<const models::InferenceModel> model,
                           std::shared_ptr<const data::Tokenizer> tokenizer, data::ChatTemplate chat,
                           GenerateOptions options)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)), chat_(std::move(chat)) {
    set_options(std::move(options));
}

void Conversation::set_messages(std::vector<ChatMessage> messages) {
    messages_ = std::move(messages);
    forgotten_ = 0;
}

void Conversation::set_system(const std::string& text) {
    if (!messages_.empty() && messages_[0].role == "system") messages_.erase(messages_.begin());
    if (!text.empty()) messages_.insert(messages_.begin(), {"system", text});
}

void Conversation::set_options(GenerateOptions options) {
    options.validate();
    options_ = std::move(options);
    text_.reset();
}

void Conversation::ask(const std::string& text) {
    messages_.push_back({"user", text});
    try {
        answer();
    } catch (const BadInput&) {
        messages_.pop_back();
        throw;
    }
}

void Conversation::answer() {
    const std::size_t T = model_->config().block_size, room = std::min(options_.max_tokens, T / 4) + 1;
    const auto of_system = static_cast<std::size_t>(!messages_.empty() && messages_[0].role == "system");
    // the visible part may begin at any of these, after the system message
    std::vector<std::size_t> begins{of_system};
    for (std::size_t i = of_system + 1; i < messages_.size(); ++i)
        if (messages_[i].role == "user") begins.push_back(i);
    std::vector<std::int32_t> ids;
    const auto is_too_long = [&](std::size_t begin) {
        std::vector<ChatMessage> seen(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(of_system));
        seen.insert(seen.end(), messages_.begin() + static_cast<std::ptrdiff_t>(begin), messages_.end());
        ids = chat_.encode(seen, *tokenizer_);
        return ids.size() + room > T;
    };
    std::size_t begin = of_system;
    if (is_too_long(begin) && begins.size() > 1) {  // without the oldest questions and what followed them
        begin = *std::partition_point(begins.begin() + 1, begins.end() - 1, is_too_long);
        is_too_long(begin);
    }
    check<BadInput>(ids.size() < T, "the message has {} tokens with the marks around it: the context has room for {}",
                    ids.size(), T - 1);
    forgotten_ = begin - of_system;
    const auto read = text_ ? text_->tokens() : std::span<const std::int32_t>();
    if (text_ && ids.size() > read.size() && std::equal(read.begin(), read.end(), ids.begin())) {
        text_->add(std::span(ids).subspan(read.size()));
    } else {
        GenerateOptions options = options_;
        options.sample += turns_;  // other random numbers than those of the turns before
        options.end_tokens.push_back(chat_.end_of_turn());
        text_.emplace(model_, tokenizer_.get(), options);
        text_->add(ids);
    }
    ++turns_;
    answer_.clear();
    full_ = false;
}

std::string Conversation::take() {
    std::string piece = text_->take();
    answer_ += piece;
    if (text_->finished()) messages_.push_back({"assistant", std::exchange(answer_, "")});
    return piece;
}

std::string Conversation::next() {
    if (finished()) return "";
    Sequence* const self = &*text_;
    step(std::span(&self, 1));
    full_ = !text_->finished() && text_->tokens().size() >= model_->config().block_size;
    if (full_) text_->finish(FinishReason::length);
    return take();
}

void Conversation::stop() {
    if (finished()) return;
    text_->finish();
    take();
}

}  // namespace inkling::generate
