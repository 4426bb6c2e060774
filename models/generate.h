// Text, token by token, from a model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "models/language_model.h"

namespace inkling::models {

struct GenerateOptions {
    std::size_t max_tokens = 200;
    double temperature = 0.8;  // 0: always the likeliest token, the one with the smallest id among equals
    std::size_t top_k = 0;     // only the k likeliest tokens; 0: all
    std::uint64_t seed = 1337;
    std::uint64_t sample = 0;  // which of several texts of one seed

    // Of a tokenizer, whose vocabulary may be smaller than the model's: larger ids are never drawn, and its end of
    // text, if it has one, ends the text and is no part of it.
    std::size_t vocab_size = 0;  // 0: the model's
    std::optional<std::int32_t> end_of_text = std::nullopt;
    void fit(const data::Tokenizer& tokenizer);
};

// Draws from softmax(logits / temperature) over the top_k likeliest, with `uniform` in [0, 1) as the lot.
std::int32_t sample_token(std::span<const float> logits, const GenerateOptions& options, double uniform);

// Continues `prompt` (at least one token), seeing at most the last block_size tokens. Each token is handed to
// `on_token` as it is made, which ends the text by answering false. Token i is drawn by the lot (seed, sample, i), so
// the text does not depend on threads. Returns the new tokens.
std::vector<std::int32_t> generate(const LanguageModel<float>& model, std::span<const std::int32_t> prompt,
                                   const GenerateOptions& options,
                                   const std::function<bool(std::int32_t)>& on_token = nullptr);

}  // namespace inkling::models
