// How a chat model sees a conversation: as tokens between marks, which are tokens of their own. The template is Jinja
// text in tokenizer_config.json or chat_template.jinja; ChatML's is known, with or without a system message of its own:
//   <|im_start|>ROLE\nCONTENT<|im_end|>\n ... <|im_start|>assistant\n
//   const ChatTemplate chat = ChatTemplate::load(folder, tokenizer);
//   chat.encode({{"user", "Hello"}}, tokenizer);        // ids, up to where the answer begins
// What people write is text, also where it spells a mark.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/tokenizers/tokenizer.h"

namespace inkling::models {

struct ChatMessage {
    std::string role, content;
};

class ChatTemplate {
  public:
    // Of a model folder. Throws BadInput where there is no template, one that is not known, or a tokenizer without its
    // marks.
    static ChatTemplate load(const std::filesystem::path& folder, const data::Tokenizer& tokenizer);
    ChatTemplate(const std::string& jinja, const data::Tokenizer& tokenizer);

    std::vector<std::int32_t> encode(std::span<const ChatMessage> messages, const data::Tokenizer& tokenizer) const;
    std::int32_t end_of_turn() const { return end_; }
    const std::string& default_system() const { return default_system_; }  // of conversations without one; "": none

  private:
    std::string default_system_;
    std::int32_t start_ = 0, end_ = 0;
};

}  // namespace inkling::models
