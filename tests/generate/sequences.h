// Texts that a small model writes.
#pragma once

#include "generate/sequence.h"
#include "tests/models/architectures.h"
#include "tests/support/pieces.h"

namespace inkling::testing {

using Tokens = std::vector<std::int32_t>;

inline GenerateOptions writing(double temperature, std::size_t max_tokens, std::uint64_t seed = 1,
                               std::uint64_t sample = 0) {
    GenerateOptions options;
    options.temperature = temperature, options.max_tokens = max_tokens, options.seed = seed, options.sample = sample;
    return options;
}

// 20 letters, the model's vocabulary.
inline Pieces letters(std::optional<std::int32_t> end = std::nullopt) {
    std::vector<std::string> pieces;
    for (char c = 'a'; c < 'a' + 20; ++c) pieces.emplace_back(1, c);
    return Pieces(pieces, end);
}

// Vocabulary 20, context 12.
inline const Transformer<float>& model() {
    static const auto made = [] {
        auto gpt = std::make_unique<Transformer<float>>(gpt2_shape(20, 2, 2, 32, 12));
        fill_matrices(*gpt, 0.3, {9, 0});  // so that texts are not all of one token
        gpt->eval();
        return gpt;
    }();
    return *made;
}

inline Tokens copied(std::span<const std::int32_t> tokens) { return {tokens.begin(), tokens.end()}; }

// A sequence of model() after a prompt, which is text or tokens.
template <class Prompt = Tokens>
Sequence started(const data::Tokenizer* tokenizer, const GenerateOptions& options, const Prompt& prompt) {
    Sequence text(model(), tokenizer, options);
    text.add(prompt);
    return text;
}

inline Tokens generated(const Transformer<float>& model, const Tokens& prompt, const GenerateOptions& options) {
    Sequence text(model, nullptr, options);
    text.add(prompt);
    text.write();
    return copied(text.generated());
}

inline Tokens text_of(const Tokens& prompt, std::size_t tokens, double temperature, std::uint64_t seed = 1,
                      std::uint64_t sample = 0) {
    return generated(model(), prompt, writing(temperature, tokens, seed, sample));
}

}  // namespace inkling::testing
