// Reads the training examples of mlx-lm, TRL, Axolotl, LLaMA-Factory and OpenAI's service, one JSON object per line:
//   {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!", "weight": 1}]}
//   {"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi!"}]}
//   {"instruction": "Add.", "input": "1 and 2", "output": "3"}                         // also a conversation
//   {"prompt": "Once upon a time", "completion": " there was a mouse."}                // or lists of messages
//   {"text": "Once upon a time there was a mouse."}
//   const ExampleLines d = read_examples(text, {.skip_bad_lines = true});
// A line with the keys of several shapes has the first shape in this order. Other keys are ignored, except those that
// change what is learned (data/text/loss_mask.h), which are read or refused by name.
#pragma once

#include <nlohmann/json.hpp>
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

// The learned part of conversations and of prompts with a completion: only answers, or all.
enum class LossOn { completions, all };

constexpr auto names(LossOn) {
    return name_table<LossOn>({{LossOn::completions, "completions"}, {LossOn::all, "all"}});
}

// A message for a chat template. `more`: null, or an object whose keys override these two, such as "tool_calls", "name"
// or "content": null.
struct ChatMessage {
    std::string role, content;
    nlohmann::json more = nullptr;
    bool learned = true;  // for an answer
    bool operator==(const ChatMessage&) const = default;
};

// One line: its messages, or pseudo-messages of the roles "prompt" and "completion", or "text".
struct Example {
    ExampleShape shape;
    std::vector<ChatMessage> parts;
    std::size_t line = 0, source = 0;  // from 1: the line, or the record of a list; the index of its file in a Corpus
    bool in_list = false;
    bool marked = false;  // an answer is marked as not learned

    std::string place() const;  // "line 3"
};

// Parses a line. Throws BadInput, without the line's number.
Example parse_example(const nlohmann::json& line);

// [{"role": "user", "content": "Hello"}, ...], the value of the key `name`. Throws BadInput.
std::vector<ChatMessage> parse_messages(const nlohmann::json& list, const char* name = "messages");
// Writes the line of a conversation.
std::string to_line(const std::vector<ChatMessage>& messages);

struct ExampleLines {
    std::vector<Example> list;   // all have one shape
    std::size_t bad_lines = 0;   // skipped lines
    std::string first_bad_line;  // its error and number
};

// Objects one per line, or in a list ("record 3"), which may span lines; or a single one that does.
enum class ExampleLayout { none, lines, list };

// Detects the layout of examples in a text, whatever its name: the first object has a known shape or any shape, or one
// of the first lines has a known shape.
ExampleLayout layout_of(std::string_view text, bool any_object);

// Skips blank lines. Throws BadInput with the line for an unknown shape, or a shape other than before; or skips and
// counts these lines.
ExampleLines read_examples(std::string_view text, bool skip_bad_lines = false,
                           ExampleLayout layout = ExampleLayout::lines);

}  // namespace inkling::data
