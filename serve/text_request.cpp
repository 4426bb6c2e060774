#include "serve/text_request.h"

#include <algorithm>
#include <charconv>
#include <random>

#include "serve/fields.h"
#include "serve/http_error.h"

namespace inkling::serve {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxLogprobs = 20;

std::uint64_t random_seed() {
    thread_local std::mt19937_64 numbers(std::random_device{}());
    return numbers() >> 11;  // a number that JavaScript can hold
}

void read_penalties(Fields& fields, generate::GenerateOptions& options) {
    options.presence_penalty = fields.number("presence_penalty", -2, 2).value_or(0);
    options.frequency_penalty = fields.number("frequency_penalty", -2, 2).value_or(0);
    for (const char* name : {"repeat_penalty", "repetition_penalty"})  // llama.cpp's name, and transformers'
        options.repeat_penalty = fields.number(name, 0.01, 100).value_or(options.repeat_penalty);
    const json* const bias = fields.find("logit_bias");
    if (!bias) return;
    if (!bias->is_object() || bias->size() > 1024)
        fields.refuse("logit_bias", "an object of at most 1024 token ids and numbers is required");
    for (const auto& [key, value] : bias->items()) {
        std::int32_t id = -1;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
        if (error != std::errc() || end != key.data() + key.size() || id < 0)
            fields.refuse("logit_bias", "token ids are required as keys");
        const double x = value.is_number() ? value.get<double>() : 1000;
        if (!(x >= -100 && x <= 100)) fields.refuse("logit_bias", "numbers from -100 to 100 are required");
        options.logit_bias[id] = x;
    }
}

void read_stop(Fields& fields, generate::GenerateOptions& options) {
    const json* const stop = fields.find("stop");
    if (!stop) return;
    constexpr const char* kRequired = "a text, or a list of at most 4, of 1 to 1000 bytes each, is required";
    const json list = stop->is_array() ? *stop : json::array({*stop});
    if (list.size() > 4) fields.refuse("stop", kRequired);
    for (const json& one : list) {
        const std::string text = one.is_string() ? one.get<std::string>() : "";
        if (text.empty() || text.size() > 1000) fields.refuse("stop", kRequired);
        options.stop.push_back(text);
    }
}

void read_common(Fields& fields, const RequestLimits& limits, TextRequest& request) {
    generate::GenerateOptions& options = request.options;
    const auto most = static_cast<std::int64_t>(limits.max_tokens);
    request.model = fields.text("model").value_or("");
    for (const char* name : {"max_tokens", "max_completion_tokens"}) {
        if (const auto n = fields.integer(name, 0, most)) request.max_tokens = static_cast<std::size_t>(*n);
    }
    options.temperature = fields.number("temperature", 0, 100).value_or(1);
    options.top_p = std::max(1e-9, fields.number("top_p", 0, 1).value_or(1));  // 0: the likeliest token
    options.min_p = fields.number("min_p", 0, 1).value_or(0);
    options.top_k =
        static_cast<std::size_t>(std::max<std::int64_t>(0, fields.integer("top_k", -1, INT32_MAX).value_or(0)));
    const std::optional<std::int64_t> seed = fields.integer("seed", INT64_MIN, INT64_MAX);
    options.seed = seed ? static_cast<std::uint64_t>(*seed) : random_seed();
    read_penalties(fields, options);
    read_stop(fields, options);
    request.n =
        static_cast<std::size_t>(fields.integer("n", 1, static_cast<std::int64_t>(limits.max_texts)).value_or(1));
    request.stream = fields.boolean("stream").value_or(false);
    if (const json* const stream_options = fields.find("stream_options")) {
        Fields inner(*stream_options, "stream_options");
        request.include_usage = inner.boolean("include_usage").value_or(false);
        inner.ignore({"include_obfuscation", "continuous_usage_stats"});
        inner.refuse_others();
        if (!request.stream) fields.refuse("stream_options", "it is for streams alone: set stream");
    }
    request.truncate_prompt = fields.integer("truncate_prompt_tokens", -1, INT32_MAX).value_or(0);
    fields.ignore({"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "cache_prompt",
                   "prompt_cache_retention", "parallel_tool_calls", "request_id", "priority"});
    for (const char* name : {"min_tokens", "ignore_eos", "use_beam_search", "mirostat", "no_repeat_ngram_size"})
        fields.require_neutral(name);
}

std::vector<std::int32_t> read_ids(const Fields& fields, const std::string& name, const json& list) {
    std::vector<std::int32_t> ids;
    for (const json& id : list) {
        const bool fits = id.is_number_integer() && id.get<double>() >= 0 && id.get<double>() <= INT32_MAX;
        if (!fits) fields.refuse(name, "token ids must be whole numbers of at least 0");
        ids.push_back(id.get<std::int32_t>());
    }
    return ids;
}

std::vector<Prompt> read_prompts(Fields& fields, const RequestLimits& limits) {
    constexpr const char* kRequired = "a text, a list of texts, token ids, or a list of lists of token ids is required";
    const json* const prompt = fields.find("prompt");
    if (!prompt) return {Prompt("")};
    if (prompt->is_string()) return {Prompt(prompt->get<std::string>())};
    if (!prompt->is_array() || prompt->empty()) fields.refuse("prompt", kRequired);
    const auto all = [&](const auto& fits) { return std::all_of(prompt->begin(), prompt->end(), fits); };
    if (all([](const json& e) { return e.is_number(); })) return {Prompt(read_ids(fields, "prompt", *prompt))};
    if (prompt->size() > limits.max_texts)
        fields.refuse("prompt",
                      fmt::format("at most {} prompts are required, got {}", limits.max_texts, prompt->size()));
    std::vector<Prompt> prompts;
    if (all([](const json& e) { return e.is_string(); })) {
        for (const json& text : *prompt) prompts.push_back(text.get<std::string>());
    } else if (all([](const json& e) { return e.is_array() && !e.empty(); })) {
        for (const json& ids : *prompt) prompts.push_back(read_ids(fields, "prompt", ids));
    } else {
        fields.refuse("prompt", kRequired);
    }
    return prompts;
}

// A text, or parts that are texts.
std::string read_content(Fields& message) {
    const json* const content = message.find("content");
    if (content && content->is_string()) return content->get<std::string>();
    if (!content || !content->is_array())
        message.refuse("content", "a text, or a list of parts that are texts, is required");
    std::string text;
    for (const json& one : *content) {
        Fields part(one, "messages.content");
        if (part.text("type").value_or("") != "text")
            part.refuse("type", "\"text\" is required: pictures and sound are not read");
        text += part.text("text").value_or("");
        part.refuse_others();
    }
    return text;
}

std::vector<models::ChatMessage> read_messages(Fields& fields) {
    const json* const list = fields.find("messages");
    if (!list || !list->is_array() || list->empty()) fields.refuse("messages", "a list of messages is required");
    std::vector<models::ChatMessage> messages;
    for (std::size_t i = 0; i < list->size(); ++i) {
        Fields message((*list)[i], fmt::format("messages[{}]", i));
        std::string role = message.text("role").value_or("");
        if (role == "developer") role = "system";
        if (role != "system" && role != "user" && role != "assistant")
            message.refuse("role", "system, user or assistant is required");
        messages.push_back({role, read_content(message)});
        for (const char* name : {"tool_calls", "function_call", "refusal", "audio", "annotations"})
            message.require_neutral(name);
        message.refuse_others();
    }
    return messages;
}

}  // namespace

CompletionRequest parse_completion(const std::string& body, const RequestLimits& limits) {
    Fields fields(body);
    CompletionRequest request;
    read_common(fields, limits, request);
    request.prompts = read_prompts(fields, limits);
    request.echo = fields.boolean("echo").value_or(false);
    if (const auto n = fields.integer("logprobs", 0, kMaxLogprobs)) {
        request.options.logprobs = static_cast<std::size_t>(*n);
        request.options.prompt_logprobs = request.echo;
    }
    const auto n = static_cast<std::int64_t>(request.n);
    if (fields.integer("best_of", 1, INT32_MAX).value_or(n) != n)
        fields.refuse("best_of", "this server does not have it: it must be n, or be left out");
    fields.require_neutral("suffix");
    fields.refuse_others();
    return request;
}

ChatRequest parse_chat(const std::string& body, const RequestLimits& limits) {
    Fields fields(body);
    ChatRequest request;
    read_common(fields, limits, request);
    request.messages = read_messages(fields);
    request.continue_final = fields.boolean("continue_final_message").value_or(false);
    if (request.continue_final && request.messages.back().role != "assistant")
        fields.refuse("continue_final_message", "the last message must be of the assistant");
    const std::optional<bool> generation_prompt = fields.boolean("add_generation_prompt");
    if (generation_prompt == request.continue_final)
        fields.refuse("add_generation_prompt", "it must be false with continue_final_message, and else true");
    const bool logprobs = fields.boolean("logprobs").value_or(false);
    const std::optional<std::int64_t> top = fields.integer("top_logprobs", 0, kMaxLogprobs);
    if (top && !logprobs) fields.refuse("top_logprobs", "logprobs must be true");
    if (logprobs) request.options.logprobs = static_cast<std::size_t>(top.value_or(0));
    for (const char* name : {"tools", "functions", "prediction", "audio", "web_search_options"})
        fields.require_neutral(name);
    fields.require_neutral("tool_choice", {"none", "auto"});
    fields.require_neutral("function_call", {"none", "auto"});
    fields.require_neutral("response_format", {{{"type", "text"}}});
    fields.require_neutral("modalities", {json::array({"text"})});
    fields.refuse_others();
    return request;
}

TokenizeRequest parse_tokenize(const std::string& body) {
    Fields fields(body);
    TokenizeRequest request;
    request.model = fields.text("model").value_or("");
    const std::optional<std::string> content = fields.text("content");
    if (!content) fields.refuse("content", "a text is required");
    request.content = *content;
    request.add_special = fields.boolean("add_special").value_or(false);
    request.parse_special = fields.boolean("parse_special").value_or(true);
    request.with_pieces = fields.boolean("with_pieces").value_or(false);
    fields.refuse_others();
    return request;
}

DetokenizeRequest parse_detokenize(const std::string& body) {
    Fields fields(body);
    DetokenizeRequest request;
    request.model = fields.text("model").value_or("");
    const json* const tokens = fields.find("tokens");
    if (!tokens || !tokens->is_array()) fields.refuse("tokens", "a list of token ids is required");
    request.tokens = read_ids(fields, "tokens", *tokens);
    fields.refuse_others();
    return request;
}

}  // namespace inkling::serve
