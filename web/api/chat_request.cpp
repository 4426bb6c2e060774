
#include "formats/json.h"
#include "web/api/request_parts.h"

namespace inkling::web {
namespace {

using nlohmann::json;

// Reads a text or a list of text parts; nothing for null.
std::optional<std::string> read_content(const Fields& message) {
    const json* const content = message.find("content");
    if (!content) return std::nullopt;
    if (content->is_string()) return content->get<std::string>();
    if (!content->is_array()) message.refuse("content", "a text, or a list of parts that are texts, is required");
    std::string text;
    for (const json& one : *content) {
        const Fields part(one, "messages.content.");
        if (part.text("type").value_or("") != "text")
            part.refuse("type", "\"text\" is required: pictures and sound are not read");
        text += part.text("text").value_or("");
        part.refuse_others();
    }
    return text;
}

// Reads the tool calls of an answer. Parses arguments from OpenAI's text form to objects, which templates expect.
json read_tool_calls(const Fields& message, const json& calls) {
    constexpr const char* kRequired = "a list of calls is required: {\"id\", \"type\", \"function\": {\"name\", ...}}";
    if (!calls.is_array()) message.refuse("tool_calls", kRequired);
    json read = calls;
    for (json& call : read) {
        if (!call.is_object() || !call.contains("function") || !call["function"].is_object())
            message.refuse("tool_calls", kRequired);
        json& function = call["function"];
        if (!function.contains("name") || !function["name"].is_string()) message.refuse("tool_calls", kRequired);
        json& arguments = function["arguments"];
        if (!arguments.is_string()) continue;
        json object = formats::json_or_null(arguments.get_ref<const std::string&>());
        if (object.is_object()) arguments = std::move(object);
    }
    return read;
}

data::ChatMessage read_message(const Fields& message) {
    std::string role = message.text("role").value_or("");
    if (role == "developer") role = "system";
    if (role != "system" && role != "user" && role != "assistant" && role != "tool")
        message.refuse("role", "system, user, assistant or tool is required");
    const std::optional<std::string> content = read_content(message);
    if (!content && role != "assistant")
        message.refuse("content", "a text, or a list of parts that are texts, is required");
    json more;  // further fields for templates
    if (!content) more["content"] = nullptr;
    if (const auto name = message.text("name")) more["name"] = *name;
    if (role == "tool") {
        if (const auto id = message.text("tool_call_id")) more["tool_call_id"] = *id;
    }
    if (role == "assistant") {
        const json* const calls = message.find("tool_calls");
        if (calls && !calls->empty()) more["tool_calls"] = read_tool_calls(message, *calls);
    }
    message.refuse_others();
    return {role, content.value_or(""), std::move(more)};
}

std::vector<data::ChatMessage> read_messages(const Fields& fields) {
    const json* const list = fields.find("messages");
    if (!list || !list->is_array() || list->empty()) fields.refuse("messages", "a list of messages is required");
    std::vector<data::ChatMessage> messages;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const Fields message((*list)[i], fmt::format("messages[{}].", i));
        messages.push_back(read_message(message));
    }
    return messages;
}

// Answers cannot call tools yet: the choice none permits a list of them, else refuse_others() refuses it.
void read_tools(const Fields& fields) {
    for (const auto& [tools, choice] : {std::pair("tools", "tool_choice"), std::pair("functions", "function_call")}) {
        fields.accept(choice, {"none", "auto"});
        if (const json* const chosen = fields.find(choice); chosen && *chosen == "none") fields.find(tools);
    }
}

}  // namespace

ChatRequest parse_chat(const std::string& text, const RequestLimits& limits) {
    const json body = parse_body(text);
    const Fields fields(body);
    ChatRequest request;
    read_common(fields, limits, request);
    request.messages = read_messages(fields);
    request.continue_final = fields.flag("continue_final_message").value_or(false);
    if (request.continue_final && request.messages.back().role != "assistant")
        fields.refuse("continue_final_message", "the last message must be of the assistant");
    const std::optional<bool> generation_prompt = fields.flag("add_generation_prompt");
    if (generation_prompt == request.continue_final)
        fields.refuse("add_generation_prompt", "it must be false with continue_final_message, and else true");
    const bool logprobs = fields.flag("logprobs").value_or(false);
    const std::int64_t top = fields.integer("top_logprobs", 0, kMaxLogprobs).value_or(0);
    if (top > 0 && !logprobs) fields.refuse("top_logprobs", "logprobs must be true");
    if (logprobs) request.options.logprobs = static_cast<std::size_t>(top);
    read_tools(fields);
    if (const json* const variables = fields.find("chat_template_kwargs")) {
        if (!variables->is_object()) fields.refuse("chat_template_kwargs", "an object is required");
        if (!variables->empty()) request.variables = *variables;
    }
    fields.accept("add_special_tokens", {false});
    fields.accept("modalities", {json::array(), json::array({"text"})});
    fields.refuse_others();
    return request;
}

}  // namespace inkling::web
