#include "data/tokenizers/token_decoder.h"

#include "data/tokenizers/bpe/byte_alphabet.h"
#include "data/tokenizers/normalizer.h"

namespace inkling::data {

namespace {

void strip(std::string& token, const DecoderStep& step) {
    for (std::size_t i = 0; i < step.start && token.starts_with(step.content); ++i) token.erase(0, step.content.size());
    for (std::size_t i = 0; i < step.stop && token.ends_with(step.content); ++i)
        token.resize(token.size() - step.content.size());
}

std::string joined(const std::vector<std::string>& tokens) {
    std::string all;
    for (const std::string& token : tokens) all += token;
    return all;
}

}  // namespace

std::string decoded(std::vector<std::string> tokens, const std::vector<DecoderStep>& steps, bool begins) {
    using Kind = DecoderStep::Kind;
    bool fused = false;
    std::size_t size = 0;
    for (const std::string& token : tokens) size += token.size();
    const std::size_t limit = growth_limit(size);
    for (const DecoderStep& step : steps) {
        switch (step.kind) {
            case Kind::byte_level:
                for (std::string& token : tokens)
                    if (auto bytes = from_byte_letters(token)) token = std::move(*bytes);
                break;
            case Kind::replace:
                for (std::string& token : tokens) token = replaced(token, step.pattern, step.content, limit);
                break;
            case Kind::metaspace:
                for (std::size_t i = 0; i < tokens.size(); ++i) {
                    const bool first = i == 0 && begins && step.prepend != PrependScheme::never;
                    tokens[i] = replaced(tokens[i], {step.content, true}, first ? "" : " ", limit);
                }
                break;
            case Kind::byte_fallback:
                for (std::string& token : tokens)
                    if (const auto byte = fallback_byte(token)) token.assign(1, *byte);
                break;
            case Kind::fuse:
                tokens = {joined(tokens)};
                fused = true;
                break;
            case Kind::strip:  // strips the whole text, or each token
                if (fused && !begins) break;
                for (std::string& token : tokens) strip(token, step);
                break;
        }
    }
    return joined(tokens);
}

}  // namespace inkling::data
