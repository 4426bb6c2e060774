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

TokenDecoder::TokenDecoder(std::vector<DecoderStep> steps) : steps_(std::move(steps)) {
    using Kind = DecoderStep::Kind;
    for (const DecoderStep& step : steps_) {
        if (step.kind == Kind::replace) patterns_.emplace_back(step.pattern);
        if (step.kind == Kind::metaspace) patterns_.emplace_back(PatternSpec{step.content, true});
    }
}

std::string TokenDecoder::operator()(std::vector<std::string> tokens, bool begins) const {
    using Kind = DecoderStep::Kind;
    auto pattern = patterns_.begin();
    bool fused = false;
    std::size_t size = 0;
    for (const std::string& token : tokens) size += token.size();
    const std::size_t limit = growth_limit(size);
    for (const DecoderStep& step : steps_) {
        switch (step.kind) {
            case Kind::byte_level:
                for (std::string& token : tokens)
                    if (auto bytes = from_byte_letters(token)) token = std::move(*bytes);
                break;
            case Kind::replace:
                for (std::string& token : tokens) token = replaced(token, *pattern, step.content, limit);
                ++pattern;
                break;
            case Kind::metaspace:
                for (std::size_t i = 0; i < tokens.size(); ++i) {
                    const bool first = i == 0 && begins && step.prepend != PrependScheme::never;
                    tokens[i] = replaced(tokens[i], *pattern, first ? "" : " ", limit);
                }
                ++pattern;
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
