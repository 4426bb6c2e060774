// Parses the object of a line: parse_example(), parse_messages().
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "data/text/examples.h"
#include "data/text/loss_mask.h"
#include "data/text/records.h"
#include "engine/base/check.h"
#include "formats/json.h"

namespace inkling::data {
namespace {

using formats::at_or_null, formats::quote;
using nlohmann::json;

constexpr std::pair<const char*, const char*> kRoles[] = {  // as data has them, and here
    {"system", "system"},       {"developer", "system"}, {"user", "user"},     {"human", "user"},
    {"assistant", "assistant"}, {"gpt", "assistant"},    {"bot", "assistant"}, {"model", "assistant"}};

// Keys that change what a template renders, and that are not read: of a message, of its line.
constexpr const char* kOfMessage[] = {"tool_calls", "function_call", "reasoning_content", "reasoning", "thinking"};
constexpr const char* kOfLine[] = {"tools", "functions", "chat_template_kwargs", "images", "image", "videos", "audios"};

template <std::size_t N>
void refuse_keys(const json& object, const char* const (&keys)[N]) {
    for (const char* const key : keys)
        if (const json& value = at_or_null(object, key); !value.is_null() && !is_empty(value)) refuse_key(key, value);
}

// A text, or a list of parts that are texts: {"type": "text", "text": "Hello"}.
std::string text_at(const json& object, const char* key) {
    const json& found = at_or_null(object, key);
    if (found.is_string()) return found.get<std::string>();
    check<BadInput>(
        found.is_array() && std::all_of(found.begin(), found.end(), [](const json& part) { return part.is_object(); }),
        "\"{}\" must be a text, got {}", key, quote(object.contains(key) ? &found : nullptr, "nothing"));
    std::string text;
    for (const json& part : found) {
        const json type = part.value("type", json());
        check<BadInput>(type == "text", "a part of \"{}\" has the type {}: \"text\" alone is read", key, quote(type));
        refuse_loss_masks(part);
        text += text_at(part, "text");
    }
    return text;
}

std::string text_or_nothing(const json& object, const char* key) {
    const json& found = at_or_null(object, key);
    return found.is_null() || is_empty(found) ? "" : text_at(object, key);
}

std::vector<std::string> keys_of(const json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
}

// {"role": ..., "content": ...}, or ShareGPT's {"from": ..., "value": ...}
ChatMessage read_message(const json& message) {
    check<BadInput>(message.is_object(), "expected an object with \"role\" and \"content\", got {}", quote(message));
    const bool share = !message.contains("role") && message.contains("from");
    refuse_keys(message, kOfMessage);
    const std::string name = text_at(message, share ? "from" : "role");
    const auto role =
        std::find_if(std::begin(kRoles), std::end(kRoles), [&](const auto& known) { return name == known.first; });
    check<BadInput>(role != std::end(kRoles), "the role must be system, user or assistant, got {}", quote(name));
    const std::optional<bool> learned = loss_mask(message);
    const bool answer = std::string("assistant") == role->second;
    check<BadInput>(answer || !learned.value_or(false),
                    "it is marked to be learned, and answers alone are: --loss-on all learns all");
    return {role->second, text_at(message, share ? "value" : "content"), nullptr, learned.value_or(true)};
}

bool is_marked(const std::vector<ChatMessage>& messages) {
    return std::any_of(messages.begin(), messages.end(), [](const ChatMessage& m) { return !m.learned; });
}

Example conversation(std::vector<ChatMessage> messages, const json& line) {
    refuse_keys(line, kOfLine);
    const bool marked = is_marked(messages);
    if (std::string system = text_or_nothing(line, "system"); !system.empty()) {
        check<BadInput>(messages[0].role != "system", "\"system\" is there twice: beside the messages and among them");
        messages.insert(messages.begin(), {"system", std::move(system)});
    }
    return {.shape = ExampleShape::messages, .parts = std::move(messages), .marked = marked};
}

// Alpaca's, with LLaMA-Factory's "history" of questions and answers.
Example instruction(const json& line) {
    std::vector<ChatMessage> messages;
    if (const json& history = at_or_null(line, "history"); !history.is_null()) {
        check<BadInput>(history.is_array(), "\"history\" must be a list of pairs of texts, got {}", quote(history));
        for (const json& pair : history) {
            const bool good = pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string();
            check<BadInput>(good, "\"history\" must be a list of pairs of texts, it has {}", quote(pair));
            messages.push_back({"user", pair[0].get<std::string>()});
            messages.push_back({"assistant", pair[1].get<std::string>()});
        }
    }
    const std::string task = text_at(line, "instruction"), input = text_or_nothing(line, "input");
    messages.push_back({"user", task + (task.empty() || input.empty() ? "" : "\n") + input});
    messages.push_back({"assistant", text_at(line, "output")});
    return conversation(std::move(messages), line);
}

// Texts, or, as TRL has them, lists of messages, the answers in the second of which are learned.
Example completion(const json& line) {
    const auto holds_messages = [&](const char* key) {
        const json& value = at_or_null(line, key);
        return value.is_array() && !value.empty() && value[0].is_object() && value[0].contains("role");
    };
    const bool prompt = holds_messages("prompt"), answer = holds_messages("completion");
    if (!prompt && !answer) {
        return {ExampleShape::completion,
                {{"prompt", text_at(line, "prompt")}, {"completion", text_at(line, "completion")}}};
    }
    check<BadInput>(prompt && answer, "\"prompt\" and \"completion\" must both be texts, or both lists of messages");
    std::vector<ChatMessage> messages = parse_messages(line["prompt"], "prompt"),
                             more = parse_messages(line["completion"], "completion");
    check<BadInput>(!is_marked(messages), "a message of \"prompt\" is marked: it is not learned in any case");
    const bool marked = is_marked(more);
    for (ChatMessage& m : messages) m.learned = m.role != "assistant";
    messages.insert(messages.end(), more.begin(), more.end());
    Example d = conversation(std::move(messages), line);
    d.marked = marked;
    return d;
}

// The keys of each shape. A line may have those of several, such as a text that was rendered from its messages: it has
// the first shape.
constexpr std::pair<const char*, const char*> kShapes[] = {
    {"messages", "messages"},  {"conversations", "conversations"}, {"conversation", "conversation"},
    {"instruction", "output"}, {"prompt", "completion"},           {"text", "text"}};

// Describes a line of an unknown shape.
std::string looks_like(const json& line) {
    constexpr std::pair<const char*, const char*> kPairs[] = {{"instruction", "response"}, {"question", "answer"},
                                                              {"question", "response"},    {"query", "response"},
                                                              {"prompt", "response"},      {"input", "output"}};
    for (const auto& [question, answer] : kPairs)
        if (line.contains(question) && line.contains(answer))
            return fmt::format(
                "it looks like a question, \"{}\", and its answer, \"{}\": name them \"prompt\" and \"completion\"",
                question, answer);
    if (line.contains("chosen") && line.contains("rejected"))
        return "it looks like a preference, \"chosen\" and \"rejected\": these are not learned here";
    if (line.contains("input_ids")) return "it looks like ids of tokens: give the texts";
    return "--text-field NAME reads one field of every line as text";
}

}  // namespace

std::vector<ChatMessage> parse_messages(const json& list, const char* name) {
    check<BadInput>(list.is_array() && !list.empty(), "\"{}\" must be a list of messages, got {}", name, quote(list));
    std::vector<ChatMessage> messages;
    for (const json& one : list) {
        try {
            messages.push_back(read_message(one));
        } catch (const BadInput& e) {
            throw BadInput(fmt::format("message {}: {}", messages.size() + 1, e.what()));
        }
    }
    return messages;
}

Example parse_example(const json& line) {
    check<BadInput>(line.is_object(),
                    "an object is required, such as {{\"messages\": [...]}}, {{\"prompt\": ..., \"completion\": "
                    "...}} or {{\"text\": ...}}, got {}",
                    quote(line));
    const char* shape = nullptr;
    for (const bool null : {false, true}) {  // a key that is null tells the shape where no other does
        const auto has = [&](const char* key) { return null ? line.contains(key) : !at_or_null(line, key).is_null(); };
        for (const auto& [key, other] : kShapes)
            if (!shape && has(key) && has(other)) shape = key;
    }
    check<BadInput>(shape,
                    "none of \"messages\", \"conversations\", \"instruction\" with \"output\", \"prompt\" with "
                    "\"completion\", and \"text\" is there: its fields are {}: {}",
                    listed(keys_of(line)), looks_like(line));
    const std::string_view name = shape;
    refuse_loss_masks(line, name != "text");
    if (name == "text") return {ExampleShape::text, {{"text", text_at(line, "text")}}};
    if (name == "prompt") return completion(line);
    if (name == "instruction") return instruction(line);
    return conversation(parse_messages(line[shape], shape), line);
}

}  // namespace inkling::data
