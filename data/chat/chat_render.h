// A chat template rendered for a conversation, with what people wrote marked: data/chat/chat_template.h has what for.
#pragma once

#include <map>
#include <span>
#include <string>

#include "data/examples.h"
#include "formats/jinja/template.h"

namespace inkling::data {

namespace jinja = formats::jinja;

// The sources of spans: a message's content, its tool calls, and the rest that it holds; then what is no message's.
enum class ChatPart : std::int32_t { content, tool_calls, other, count };
inline std::int32_t source_of(std::size_t message, ChatPart part) {
    return static_cast<std::int32_t>(message) * static_cast<std::int32_t>(ChatPart::count) +
           static_cast<std::int32_t>(part);
}
inline std::size_t message_of(std::int32_t source) {
    return static_cast<std::size_t>(source / static_cast<std::int32_t>(ChatPart::count));
}

// What a template is given beside the messages.
struct ChatContext {
    std::string variables = {};       // a JSON object, as text: tools, enable_thinking, ...; "": none
    std::function<bool()> stop = {};  // asked now and then: whether nobody waits for it any more
    bool for_answer = false;          // up to where an answer begins
};

// `marks`: what it may name: bos_token, eos_token, ... Throws BadInput where the template leaves out a message or tool
// calls, or refuses the conversation, or takes too long for it.
jinja::Text render(const jinja::Template& jinja, const std::map<std::string, std::string>& marks,
                   std::span<const ChatMessage> messages, const ChatContext& context);

}  // namespace inkling::data
