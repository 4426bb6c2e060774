// Renders a chat template for a conversation, marks the user's text (data/chat/chat_template.h says why), and
// encodes the rendered text, with a mask of the answers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/text/examples.h"
#include "data/tokenizers/tokenizer.h"
#include "formats/jinja/template.h"

namespace inkling::data {

namespace jinja = formats::jinja;

// The sources of spans: a message's content, its tool calls, its other keys; then everything outside of messages.
enum class ChatPart : std::int32_t { content, tool_calls, other, count };
inline std::int32_t source_of(std::size_t message, ChatPart part) {
    return static_cast<std::int32_t>(message) * static_cast<std::int32_t>(ChatPart::count) +
           static_cast<std::int32_t>(part);
}
inline std::size_t message_of(std::int32_t source) {
    return static_cast<std::size_t>(source / static_cast<std::int32_t>(ChatPart::count));
}

// The template's input beside the messages.
struct ChatContext {
    nlohmann::json variables = nullptr;  // an object: tools, enable_thinking, ...
    std::function<bool()> stop = {};     // polled; true cancels the run
    bool for_answer = false;             // ends where an answer begins
};

// `special_tokens`: its variables bos_token, eos_token, ... Throws BadInput if the template omits a message or tool
// calls, refuses the conversation, or takes too long.
jinja::Text render(const jinja::Template& jinja, const std::map<std::string, std::string>& special_tokens,
                   std::span<const ChatMessage> messages, const ChatContext& context);

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
std::vector<ChatPiece> cut_at_special_tokens(const jinja::Text& text, const Tokenizer& tokenizer);

// Per byte: whether it belongs to a learned answer. If the template has {% generation %}, that part is learned.
// Otherwise an answer begins after `prompt`, the template's request for an answer, if it precedes the assistant's
// message, else with the message; it ends after the next special token, or at the next message.
std::vector<bool> answers_in(const jinja::Text& text, std::span<const ChatPiece> pieces,
                             std::span<const ChatMessage> messages, const std::string& prompt);

// answer: per byte; empty: no answer.
ChatIds encode_pieces(const jinja::Text& text, std::span<const ChatPiece> pieces, const std::vector<bool>& answer,
                      const Tokenizer& tokenizer);

}  // namespace inkling::data
