// How a chat model sees a conversation: as messages between marks, which are tokens of their own. The template is Jinja
// text in tokenizer_config.json or chat_template.jinja, such as ChatML's:
//   <|im_start|>ROLE\nCONTENT<|im_end|>\n ... <|im_start|>assistant\n
//   const ChatTemplate chat = ChatTemplate::load(folder, tokenizer);
//   chat.encode({{"user", "Hello"}}, tokenizer);        // ids, up to where the answer begins
//   chat.apply(conversation, tokenizer);                // ids, and which of them are answers: to train on
// What people write is marked in what the template renders, and is text, also where it spells a mark: any template is
// known, whatever it does to contents.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/chat/chat_ids.h"
#include "data/chat/chat_render.h"
#include "data/examples.h"
#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

// Of a model folder; nothing where it has no template. Throws BadInput for files that are broken.
std::optional<ChatSource> read_chat_source(const std::filesystem::path& folder);

class ChatTemplate {
  public:
    // Of a model folder. Throws BadInput where there is no template, or one that cannot be used: it is not of the part
    // of Jinja that formats/jinja/template.h has, loses a message, or ends an answer with no token of the tokenizer.
    static ChatTemplate load(const std::filesystem::path& folder, const Tokenizer& tokenizer);
    static ChatTemplate of(const Tokenizer& tokenizer);  // that it came with
    // `marks`: what the template may name: bos_token, eos_token, ...
    ChatTemplate(const std::string& jinja, const Tokenizer& tokenizer,
                 const std::map<std::string, std::string>& marks = {});

    // The first: up to where an answer begins. Throw BadInput for what the template refuses, as some do messages of the
    // system.
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
