// Texts and log-probabilities in the format of OpenAI's API.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/tokenizers/tokenizer.h"
#include "web/api/choice_stream.h"

namespace inkling::web {

// "stop" or "length"; null while the text continues.
nlohmann::ordered_json finish_json(generate::FinishReason reason);

// The `logprobs` of completions: tokens, token_logprobs, top_logprobs, text_offset. Offsets count characters from
// the start of the text and begin at `offset`.
class CompletionLogprobs {
  public:
    CompletionLogprobs(const data::Tokenizer& tokenizer, bool top) : tokenizer_(tokenizer), top_(top) {}
    // For a prompt; its first token has no log-probability.
    void add_prompt(std::span<const std::int32_t> tokens, const std::vector<generate::TokenLogprobs>& logprobs);
    void add(const ChoicePiece& piece);
    nlohmann::ordered_json take();  // those added since the last call

  private:
    void add_token(const std::string& text, const generate::TokenLogprobs* logprobs);

    const data::Tokenizer& tokenizer_;
    bool top_;
    std::size_t offset_ = 0;
    nlohmann::ordered_json tokens_ = nlohmann::ordered_json::array(), values_ = tokens_, tops_ = tokens_,
                           offsets_ = tokens_;
};

// The `logprobs` of chats: {"content": [{token, logprob, bytes, top_logprobs}]}.
nlohmann::ordered_json chat_logprobs(const data::Tokenizer& tokenizer,
                                     const std::vector<generate::TokenLogprobs>& logprobs);

nlohmann::ordered_json byte_list(const std::string& bytes);  // [226, 130]

// "data: ...\n\n"
std::string event(const nlohmann::ordered_json& json);

std::string random_id(const std::string& prefix);  // "cmpl-1f2e..."

}  // namespace inkling::web
