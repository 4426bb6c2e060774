// A conversation with a chat model, turn by turn:
//   Conversation talk(model, tokenizer, ChatTemplate::of(*tokenizer));
//   talk.ask("Hello");
//   while (!talk.finished()) std::cout << talk.next();
//   talk.messages();                            // all messages, with the answer
// The cache keeps the processed tokens. When the conversation outgrows the context, the model no longer sees the oldest
// turns, except the system message.
#pragma once

#include <optional>

#include "data/chat/chat_template.h"
#include "generate/sequence.h"

namespace inkling::generate {

class Conversation {
  public:
    static constexpr std::size_t what_is_left = SIZE_MAX;  // max_tokens: the rest of the context

    Conversation(std::shared_ptr<const models::InferenceModel> model, std::shared_ptr<const data::Tokenizer> tokenizer,
                 data::ChatTemplate chat, GenerateOptions options);

    const std::vector<data::ChatMessage>& messages() const { return messages_; }
    void set_messages(std::vector<data::ChatMessage> messages);  // replaces the conversation; may be empty
    void set_system(const std::string& text);                    // "": none
    const GenerateOptions& options() const { return options_; }
    void set_options(GenerateOptions options);

    // Begins the answer to this message, or to the last one. Throws BadInput if the message does not fit into the
    // context or the template refuses the conversation, which then stays unchanged.
    void ask(const std::string& text);
    void answer();

    std::string next();  // the next part of the answer, which becomes a message when it is finished
    void stop();
    bool finished() const { return !text_ || text_->finished(); }
    const Sequence& text() const { return *text_; }       // of the last answer
    bool full() const { return full_; }                   // the context ended it
    std::size_t forgotten() const { return forgotten_; }  // the oldest messages, which the model no longer sees

  private:
    std::string take();

    std::shared_ptr<const models::InferenceModel> model_;
    std::shared_ptr<const data::Tokenizer> tokenizer_;
    data::ChatTemplate chat_;
    GenerateOptions options_;
    std::vector<data::ChatMessage> messages_;
    std::optional<Sequence> text_;
    std::string answer_;
    std::size_t turns_ = 0, forgotten_ = 0;
    bool full_ = false;
};

}  // namespace inkling::generate
