// Converts a conversation to a chat model's form: messages between special tokens. The template is
// Jinja text in tokenizer_config.json or chat_template.jinja, such as ChatML's:
//   <|im_start|>ROLE\nCONTENT<|im_end|>\n ... <|im_start|>assistant\n
//   const auto chat = ChatTemplate::of(tokenizer);      // that of its model folder
//   chat.encode({{"user", "Hello"}}, tokenizer);        // ids up to the answer
//   chat.apply(conversation, tokenizer);                // ids with marked answers, to train on
// User text is tracked through the rendering and encoded as text even if it spells a mark, whatever the template does
// to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/chat/chat_render.h"
#include "data/text/examples.h"
#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

// Reads a model folder's template; nullopt without one. Throws BadInput for broken files.
std::optional<ChatSource> read_chat_source(const std::filesystem::path& folder);

class ChatTemplate {
  public:
    // The tokenizer's template. Throws BadInput unless it is usable: it must stay within the Jinja of
    // formats/jinja/template.h, keep every message, and end an answer with a token of the tokenizer.
    static ChatTemplate of(const Tokenizer& tokenizer);
    // `special_tokens`: the template's variables bos_token, eos_token, ...
    ChatTemplate(const std::string& jinja, const Tokenizer& tokenizer,
                 const std::map<std::string, std::string>& special_tokens = {});

    // encode() stops where an answer begins. Both throw BadInput if the template refuses the conversation, as some
    // refuse system messages.
    std::vector<std::int32_t> encode(std::span<const ChatMessage> messages, const Tokenizer& tokenizer,
                                     ChatContext context = {}) const;
    ChatIds apply(std::span<const ChatMessage> messages, const Tokenizer& tokenizer,
                  const ChatContext& context = {}) const;

    std::int32_t end_of_turn() const { return end_; }

  private:
    struct Source;
    std::shared_ptr<const Source> source_;
    std::int32_t end_ = -1;
};

}  // namespace inkling::data
