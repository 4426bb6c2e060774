#include "data/tokenizers/char_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/check.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

// 'é' (U+00E9); control characters by number alone, so that messages stay on one line.
std::string describe(char32_t c) {
    std::string glyph;
    formats::append_utf8(glyph, c);
    const auto number = fmt::format("U+{:04X}", static_cast<std::uint32_t>(c));
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
    return control ? number : fmt::format("'{}' ({})", glyph, number);
}

void check_valid(char32_t c, std::string_view text, std::size_t at) {
    if (c == formats::invalid_code_point) [[unlikely]]
        throw BadInput(
            fmt::format("the text is not UTF-8: byte {} is 0x{:02X}", at, static_cast<unsigned char>(text[at])));
}

}  // namespace

CharTokenizer CharTokenizer::from_text(std::string_view text) { return from_texts(std::span(&text, 1)); }

CharTokenizer CharTokenizer::from_texts(std::span<const std::string_view> texts) {
    std::vector<bool> seen(0x110000);
    for (const std::string_view text : texts) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t start = at;
            const char32_t c = formats::next_code_point(text, at);
            check_valid(c, text, start);
            seen[c] = true;
        }
    }
    std::vector<char32_t> characters;
    for (char32_t c = 0; c < seen.size(); ++c)
        if (seen[c]) characters.push_back(c);
    return CharTokenizer(std::move(characters));
}

CharTokenizer::CharTokenizer(std::vector<char32_t> characters) : characters_(std::move(characters)) {
    check<BadInput>(!characters_.empty(), "a character vocabulary needs at least one character, the text has none");
    ids_.assign(*std::max_element(characters_.begin(), characters_.end()) + 1, -1);
    for (std::size_t id = 0; id < characters_.size(); ++id) {
        std::int32_t& slot = ids_[characters_[id]];
        check<BadInput>(slot < 0, "the character {} has two ids, {} and {}", describe(characters_[id]), slot, id);
        slot = static_cast<std::int32_t>(id);
    }
}

void CharTokenizer::encode_parts(std::string_view text, const TakeIds& take) const {
    constexpr std::size_t part = 1 << 16;
    std::vector<std::int32_t> ids;
    ids.reserve(std::min(text.size(), part));
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = at;
        const char32_t c = formats::next_code_point(text, at);
        check_valid(c, text, start);
        const std::int32_t id = c < ids_.size() ? ids_[c] : -1;
        if (id < 0) [[unlikely]]
            throw BadInput(
                fmt::format("the character {} at byte {} is not in the vocabulary of {} characters: leave it out, "
                            "train on a text that has it, or train with --tokenizer bpe, which takes any text",
                            describe(c), start, vocab_size()));
        ids.push_back(id);
        if (ids.size() < part) continue;
        take(ids, at);
        ids.clear();
    }
    if (!ids.empty()) take(ids, text.size());
}

std::size_t CharTokenizer::safe_cut(std::string_view text, std::size_t from) const {
    while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
    return std::min(from, text.size());
}

std::string CharTokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string text;
    text.reserve(ids.size());
    for (std::int32_t id : ids) {
        check<BadInput>(id >= 0 && static_cast<std::size_t>(id) < characters_.size(),
                        "token ids must be in [0, {}), got {}", characters_.size(), id);
        formats::append_utf8(text, characters_[static_cast<std::size_t>(id)]);
    }
    return text;
}

// A BPE model without merges, so `tokenizers` falls back to the single characters; Fuse joins them without spaces.
std::string CharTokenizer::to_json() const {
    nlohmann::json vocab = nlohmann::json::object();
    for (std::size_t id = 0; id < characters_.size(); ++id) {
        std::string character;
        formats::append_utf8(character, characters_[id]);
        vocab[character] = id;
    }
    const nlohmann::json tokenizer = {{"version", "1.0"},
                                      {"truncation", nullptr},
                                      {"padding", nullptr},
                                      {"added_tokens", nlohmann::json::array()},
                                      {"normalizer", nullptr},
                                      {"pre_tokenizer", nullptr},
                                      {"post_processor", nullptr},
                                      {"decoder", {{"type", "Fuse"}}},
                                      {"model",
                                       {{"type", "BPE"},
                                        {"dropout", nullptr},
                                        {"unk_token", nullptr},
                                        {"continuing_subword_prefix", nullptr},
                                        {"end_of_word_suffix", nullptr},
                                        {"fuse_unk", false},
                                        {"byte_fallback", false},
                                        {"ignore_merges", false},
                                        {"vocab", std::move(vocab)},
                                        {"merges", nlohmann::json::array()}}}};
    return tokenizer.dump(2) + "\n";
}

}  // namespace inkling::data
