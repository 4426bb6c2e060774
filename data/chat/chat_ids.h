// A rendered conversation as token ids, and which of them are answers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/examples.h"
#include "data/tokenizers/tokenizer.h"
#include "formats/jinja/text.h"

namespace inkling::data {

namespace jinja = formats::jinja;

struct ChatIds {
    std::vector<std::int32_t> ids;
    std::vector<bool> answer;  // of each id: whether it is of what the assistant says, or the token that ends it
};

// A special token of a text, or what stands between two.
struct ChatPiece {
    std::size_t begin, end;
    std::int32_t id;  // -1: text
};
// What a span covers spells no special token; white space of it may be a part of the token beside it.
std::vector<ChatPiece> cut_at_marks(const jinja::Text& text, const Tokenizer& tokenizer);

// Of each byte: whether it is of an answer that is learned. Where {% generation %} encloses something, that is.
// Otherwise an answer begins behind `prompt`, which is what the template asks for an answer with, where this precedes a
// message of the assistant, and else with the message; it ends behind the next special token, or with the next message.
std::vector<bool> answers_in(const jinja::Text& text, std::span<const ChatPiece> pieces,
                             std::span<const ChatMessage> messages, const std::string& prompt);

// answer: of each byte, or empty: there is none.
ChatIds encode_pieces(const jinja::Text& text, std::span<const ChatPiece> pieces, const std::vector<bool>& answer,
                      const Tokenizer& tokenizer);

}  // namespace inkling::data
