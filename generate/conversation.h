// A conversation with a chat model, turn by turn:
//   Conversation talk(model, tokenizer, ChatTemplate::load(folder, *tokenizer));
//   talk.ask("Hello");
//   while (!talk.finished()) std::cout << talk.next();
//   talk.messages();                            // what was said, the answer among it
// What the model has read stays in its cache. When all no longer fits into the context, the oldest turns are left out
// of what the model sees, but for the system's message.
#pragma once

#include <optional>

#include "data/chat/chat_template.h"
#include "generate/sequence.h"

namespace inkling::generate {

class Conversation {
  public:
    static constexpr std::size_t what_is_left = SIZE_MAX;  // of the context: max_tokens

    Conversation(std::shared_ptr<const models::InferenceModel> model, std::shared_ptr<const data::Tokenizer> tokenizer,
                 data::ChatTemplate chat, GenerateOptions options);

    const std::vector<data::ChatMessage>& messages() const { return messages_; }
    void set_messages(std::vector<data::ChatMessage> messages);  // those of another conversation, or none
    void set_system(const std::string& text);                    // "": none
    const GenerateOptions& options() const { return options_; }
    void set_options(GenerateOptions options);

    // Begins the answer to this, or to the last message. Throws BadInput when the message does not fit into the
    // context, or the template refuses the conversation, which is then as it was.
    void ask(const std::string& text);
    void answer();

    std::string next();  // some more of the answer, which is a message once it is finished
    void stop();
    bool finished() const { return !text_ || text_->finished(); }
    const Sequence& text() const { return *text_; }       // of the last answer
    bool full() const { return full_; }                   // the context ended it
    std::size_t forgotten() const { return forgotten_; }  // messages, the oldest, that the model no longer sees

  private:
    std::string taken();

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
