// Documents in lines, as mlx-lm, TRL and OpenAI's service read them: one JSON object a line, in one of three shapes:
//   {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}]}
//   {"prompt": "Once upon a time", "completion": " there was a mouse."}
//   {"text": "Once upon a time there was a mouse."}
//   const DocumentLines d = read_documents(text, {.skip_bad_lines = true});
// Other keys are passed over.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/names.h"

namespace inkling::data {

enum class DocumentShape { messages, completion, text };

constexpr auto names(DocumentShape) {
    return name_table<DocumentShape>({{DocumentShape::messages, "messages"},
                                      {DocumentShape::completion, "prompt and completion"},
                                      {DocumentShape::text, "text"}});
}

// What a chat template is given of a message. `more`: a JSON object, as text, whose keys come over these two, such as
// "tool_calls", "name" or "content": null; "": none. Its order is the template's.
struct ChatMessage {
    std::string role, content, more = {};
    bool operator==(const ChatMessage&) const = default;
};

// A line: its messages; or those of the roles "prompt" and "completion", or "text".
struct Document {
    DocumentShape shape;
    std::vector<ChatMessage> parts;
    std::size_t line = 0, source = 0;  // 1: the first line; which file, of those of a Corpus
};

// Throws BadInput, without naming the line.
Document parse_document(std::string_view line);

// [{"role": "user", "content": "Hello"}, ...]. Throws BadInput.
std::vector<ChatMessage> parse_messages(const nlohmann::json& list);
// The line that holds a conversation.
std::string to_line(const std::vector<ChatMessage>& messages);

struct DocumentLines {
    std::vector<Document> list;  // all of one shape
    std::size_t bad_lines = 0;   // that were skipped
    std::string first_bad_line;  // what is wrong with it, and its number
};

// Blank lines are passed over. Throws BadInput, naming the line, for the first that is none of the three, or of another
// shape than those before it; or else skips and counts it.
DocumentLines read_documents(std::string_view lines, bool skip_bad_lines = false);

// Whether it is documents: one of its first lines is.
bool holds_documents(std::string_view lines);

}  // namespace inkling::data
