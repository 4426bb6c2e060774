// How a chat model sees a conversation: as messages between marks, which are tokens of their own. The template is Jinja
// text in tokenizer_config.json or chat_template.jinja, such as ChatML's:
//   <|im_start|>ROLE\nCONTENT<|im_end|>\n ... <|im_start|>assistant\n
//   const ChatTemplate chat = ChatTemplate::load(folder, tokenizer);
//   chat.encode({{"user", "Hello"}}, tokenizer);        // ids, up to where the answer begins
//   chat.apply(conversation, tokenizer);                // ids, and which of them are answers: to train on
// The template is rendered with a placeholder for each content, as long as white space at its ends is what it is: what
// comes out around them are marks. So what people write is text, also where it spells a mark, and any template is known
// that keeps contents whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/documents.h"
#include "data/tokenizers/tokenizer.h"

namespace inkling::models {

using data::ChatMessage;

struct ChatIds {
    std::vector<std::int32_t> ids;
    std::vector<bool> answer;  // of each id: whether it is of what the assistant says, or the token that ends it
};

// Of a model folder; nothing where it has no template. Throws BadInput for files that are broken.
std::optional<data::ChatSource> read_chat_source(const std::filesystem::path& folder);

class ChatTemplate {
  public:
    // Of a model folder. Throws BadInput where there is no template, or one that cannot be used: it is not of the part
    // of Jinja that formats/jinja.h has, loses a message, or ends an answer with no token of the tokenizer.
    static ChatTemplate load(const std::filesystem::path& folder, const data::Tokenizer& tokenizer);
    static ChatTemplate of(const data::Tokenizer& tokenizer);  // that it came with
    // `marks`: what the template may name: bos_token, eos_token, ...
    ChatTemplate(const std::string& jinja, const data::Tokenizer& tokenizer,
                 const std::map<std::string, std::string>& marks = {});

    // Throw BadInput for what the template refuses, as some do messages of the system.
    std::vector<std::int32_t> encode(std::span<const ChatMessage> messages, const data::Tokenizer& tokenizer) const;
    ChatIds apply(std::span<const ChatMessage> messages, const data::Tokenizer& tokenizer) const;

    std::int32_t end_of_turn() const { return end_; }

  private:
    struct Source;
    std::shared_ptr<const Source> source_;
    std::int32_t end_ = -1;
};

}  // namespace inkling::models
