// Renders a chat template for a conversation and marks the user's text; data/chat/chat_template.h says why.
#pragma once

#include <map>
#include <span>
#include <string>

#include "data/text/examples.h"
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
    std::function<bool()> stop = {};     // polled: whether nobody waits any more
    bool for_answer = false;             // ends where an answer begins
};

// `marks`: its variables bos_token, eos_token, ... Throws BadInput if the template omits a message or tool calls,
// refuses the conversation, or takes too long.
jinja::Text render(const jinja::Template& jinja, const std::map<std::string, std::string>& marks,
                   std::span<const ChatMessage> messages, const ChatContext& context);

}  // namespace inkling::data
