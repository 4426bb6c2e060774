// Examples in lines, as mlx-lm, TRL, Axolotl, LLaMA-Factory and OpenAI's service read them: one JSON object a line:
//   {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!", "weight": 1}]}
//   {"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi!"}]}
//   {"instruction": "Add.", "input": "1 and 2", "output": "3"}                         // a conversation, too
//   {"prompt": "Once upon a time", "completion": " there was a mouse."}                // or lists of messages
//   {"text": "Once upon a time there was a mouse."}
//   const ExampleLines d = read_examples(text, {.skip_bad_lines = true});
// Other keys are passed over, but for those that change what is learned: these are refused by name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/names.h"

namespace inkling::data {

enum class ExampleShape { messages, completion, text };

constexpr auto names(ExampleShape) {
    return name_table<ExampleShape>({{ExampleShape::messages, "messages"},
                                     {ExampleShape::completion, "prompt and completion"},
                                     {ExampleShape::text, "text"}});
}

// What is learned of conversations, and of prompts with a completion: answers alone, or all.
enum class LossOn { completions, all };

constexpr auto names(LossOn) {
    return name_table<LossOn>({{LossOn::completions, "completions"}, {LossOn::all, "all"}});
}

// What a chat template is given of a message. `more`: a JSON object, as text, whose keys come over these two, such as
// "tool_calls", "name" or "content": null; "": none. Its order is the template's.
struct ChatMessage {
    std::string role, content, more = {};
    bool learned = true;  // where it is an answer
    bool operator==(const ChatMessage&) const = default;
};

// A line: its messages; or those of the roles "prompt" and "completion", or "text".
struct Example {
    ExampleShape shape;
    std::vector<ChatMessage> parts;
    std::size_t line = 0, source = 0;  // 1: the first line, or record of a list; which file, of those of a Corpus
    bool in_list = false;
    bool marked = false;  // an answer is marked not to be learned

    std::string place() const;  // "line 3"
};

// What a line says. Throws BadInput, without naming the line.
Example parse_example(const nlohmann::json& line);

// [{"role": "user", "content": "Hello"}, ...], the value of the key `name`. Throws BadInput.
std::vector<ChatMessage> parse_messages(const nlohmann::json& list, const char* name = "messages");
// The line that holds a conversation.
std::string to_line(const std::vector<ChatMessage>& messages);

struct ExampleLines {
    std::vector<Example> list;   // all of one shape
    std::size_t bad_lines = 0;   // that were skipped
    std::string first_bad_line;  // what is wrong with it, and its number
};

// Objects in lines, or in a list, as "record 3", which may go over several lines; or one alone that does.
enum class ExampleLayout { none, lines, list };

// How a text holds examples, whatever its name. Its first object is of a known shape, or of any; or one of its first
// lines is of a known shape.
ExampleLayout layout_of(std::string_view text, bool any_object);

// Blank lines are passed over. Throws BadInput, naming the line, for the first that is of no known shape, or of another
// than those before it; or else skips and counts it.
ExampleLines read_examples(std::string_view text, bool skip_bad_lines = false,
                           ExampleLayout layout = ExampleLayout::lines);

}  // namespace inkling::data
