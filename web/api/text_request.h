// Parses and validates requests for text. Independent of the model.
//   const CompletionRequest r = parse_completion(http.body, limits);     // throws HttpError 400, naming the field
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "data/chat/chat_template.h"
#include "generate/sequence.h"

namespace inkling::web {

struct RequestLimits {
    std::size_t max_tokens = 4096;  // per text
    std::size_t max_texts = 128;    // prompts times texts per prompt
};

struct TextRequest {
    std::string model;  // "": the default
    // max_tokens, if it is given, sampling, seed, stop texts, log-probabilities
    generate::GenerateOptions options;
    std::optional<std::size_t> max_tokens;  // as requested
    std::size_t most_tokens = 0;            // the server's limit
    std::size_t n = 1;
    bool stream = false, include_usage = false;
    std::int64_t truncate_prompt = 0;  // keep only this many last tokens; -1: the context; 0: the prompt must fit
};

using Prompt = std::variant<std::string, std::vector<std::int32_t>>;

struct CompletionRequest : TextRequest {
    std::vector<Prompt> prompts;
    bool echo = false;
};

struct ChatRequest : TextRequest {
    std::vector<data::ChatMessage> messages;
    nlohmann::json variables = nullptr;  // chat_template_kwargs
    bool continue_final = false;         // continue the last message, an assistant's
};

CompletionRequest parse_completion(const std::string& body, const RequestLimits& limits);
ChatRequest parse_chat(const std::string& body, const RequestLimits& limits);

}  // namespace inkling::web
