// What requests for text ask, checked. Nothing here knows a model.
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
    std::size_t max_tokens = 4096;  // of a text
    std::size_t max_texts = 128;    // prompts, and texts of each
};

struct TextRequest {
    std::string model;  // "": none is named
    // max_tokens, if it is given, sampling, seed, stop texts, log-probabilities
    generate::GenerateOptions options;
    std::optional<std::size_t> max_tokens;  // as asked for
    std::size_t most_tokens = 0;            // that the server writes
    std::size_t n = 1;
    bool stream = false, include_usage = false;
    std::int64_t truncate_prompt = 0;  // so many of its last tokens are read; -1: the context; 0: it must fit
};

using Prompt = std::variant<std::string, std::vector<std::int32_t>>;

struct CompletionRequest : TextRequest {
    std::vector<Prompt> prompts;
    bool echo = false;
};

struct ChatRequest : TextRequest {
    std::vector<models::ChatMessage> messages;
    std::string variables;        // that its template is given, a JSON object: chat_template_kwargs; "": none
    bool continue_final = false;  // the last message is an answer that is to be gone on with
};

CompletionRequest parse_completion(const std::string& body, const RequestLimits& limits);
ChatRequest parse_chat(const std::string& body, const RequestLimits& limits);

// /tokenize and /detokenize, as llama.cpp's server has them.
struct TokenizeRequest {
    std::string model, content;
    bool add_special = false, parse_special = true, with_pieces = false;
};
struct DetokenizeRequest {
    std::string model;
    std::vector<std::int32_t> tokens;
};
TokenizeRequest parse_tokenize(const std::string& body);
DetokenizeRequest parse_detokenize(const std::string& body);

}  // namespace inkling::web
