// A rendered conversation as token ids, with marks on the answers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/text/examples.h"
#include "data/tokenizers/tokenizer.h"
#include "formats/jinja/text.h"

namespace inkling::data {

namespace jinja = formats::jinja;

struct ChatIds {
    std::vector<std::int32_t> ids;
    std::vector<bool> answer;  // per id: whether it belongs to the assistant's text or ends it
};

// A special token, or the text between two.
struct ChatPiece {
    std::size_t begin, end;
    std::int32_t id;  // -1: text
};
// Text inside a span spells no special token; its white space may join the token beside it.
std::vector<ChatPiece> cut_at_marks(const jinja::Text& text, const Tokenizer& tokenizer);

// Per byte: whether it belongs to a learned answer. If the template has {% generation %}, that part is learned.
// Otherwise an answer begins after `prompt`, the template's request for an answer, if it precedes the assistant's
// message, else with the message; it ends after the next special token, or at the next message.
std::vector<bool> answers_in(const jinja::Text& text, std::span<const ChatPiece> pieces,
                             std::span<const ChatMessage> messages, const std::string& prompt);

// answer: per byte; empty: no answer.
ChatIds encode_pieces(const jinja::Text& text, std::span<const ChatPiece> pieces, const std::vector<bool>& answer,
                      const Tokenizer& tokenizer);

}  // namespace inkling::data
