#include "data/tokenizers/char_tokenizer.h"

#include <algorithm>
#include <numeric>

#include "data/tokenizers/bpe/byte_alphabet.h"
#include "engine/base/check.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

// 'é' (U+00E9).
std::string describe(char32_t c) {
    if (c >= CharTokenizer::byte_token) return fallback_token(static_cast<char>(c - CharTokenizer::byte_token));
    const std::string name = quoted_character(c);
    return name[0] != '\'' ? name : fmt::format("{} (U+{:04X})", name, static_cast<std::uint32_t>(c));
}

// Counts each code point in the texts.
std::vector<std::size_t> counts_of(std::span<const std::string_view> texts) {
    std::vector<std::size_t> counts(0x110000);
    for (const std::string_view text : texts)
        for (std::size_t at = 0; at < text.size();) ++counts[formats::valid_code_point(text, at)];
    return counts;
}

std::vector<char32_t> present(const std::vector<std::size_t>& counts) {
    std::vector<char32_t> characters;
    for (char32_t c = 0; c < counts.size(); ++c)
        if (counts[c] > 0) characters.push_back(c);
    return characters;
}

}  // namespace

CharTokenizer CharTokenizer::from_text(std::string_view text) { return from_texts(std::span(&text, 1)); }

CharTokenizer CharTokenizer::from_texts(std::span<const std::string_view> texts, ByteFallback byte_fallback) {
    std::vector<std::size_t> counts = counts_of(texts);
    std::vector<char32_t> all = present(counts), rarest = all;
    if (byte_fallback == ByteFallback::never) return CharTokenizer(std::move(all));
    std::stable_sort(rarest.begin(), rarest.end(), [&](char32_t a, char32_t b) { return counts[a] < counts[b]; });
    std::size_t left = std::accumulate(counts.begin(), counts.end(), std::size_t{0}) / 2000;
    for (const char32_t c : rarest) {
        if (counts[c] > left) break;
        left -= counts[c];
        counts[c] = 0;
    }
    std::vector<char32_t> characters = present(counts);
    for (char32_t byte = 0; byte < 256; ++byte) characters.push_back(byte_token + byte);
    const bool smaller = characters.size() < all.size() || byte_fallback == ByteFallback::always;
    return CharTokenizer(std::move(smaller ? characters : all));
}

CharTokenizer::CharTokenizer(std::vector<char32_t> characters) : characters_(std::move(characters)) {
    bytes_.fill(-1);
    char32_t largest = 0;
    for (const char32_t c : characters_)
        if (c < byte_token) largest = std::max(largest, c);
    ids_.assign(largest + 1, -1);
    std::size_t bytes = 0;
    for (std::size_t id = 0; id < characters_.size(); ++id) {
        const char32_t c = characters_[id];
        std::int32_t& slot = c < byte_token ? ids_[c] : bytes_.at(c - byte_token);
        check<BadInput>(slot < 0, "the character {} has two ids, {} and {}", describe(c), slot, id);
        slot = static_cast<std::int32_t>(id);
        bytes += c >= byte_token;
    }
    check<BadInput>(bytes == 0 || bytes == 256, "byte fallback needs a token for each of the 256 bytes, got {}", bytes);
    check<BadInput>(characters_.size() > bytes,
                    "a character vocabulary needs at least one character, the text has none");
    // The replacement for unknown characters: U+FFFD or a question mark, else white space, else any character.
    for (const char32_t c : {U'\uFFFD', U'?', U'\uFF1F', U' ', U'\u3000', U'\n'})
        if (replacement_ = id_of(c); replacement_ >= 0) return;
    replacement_ = *std::find_if(ids_.begin(), ids_.end(), [](std::int32_t id) { return id >= 0; });
}

void CharTokenizer::encode_parts(std::string_view text, const TakeIds& take) const {
    constexpr std::size_t part = 1 << 16;
    std::vector<std::int32_t> ids;
    ids.reserve(std::min(text.size(), part));
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = at;
        const char32_t c = formats::valid_code_point(text, at);
        if (const std::int32_t id = id_of(c); id >= 0) [[likely]] {
            ids.push_back(id);
        } else if (has_byte_fallback()) {
            for (const char byte : text.substr(start, at - start))
                ids.push_back(bytes_[static_cast<unsigned char>(byte)]);
        } else if (unknown) {
            unknown->add(c, characters_[static_cast<std::size_t>(replacement_)]);
            ids.push_back(replacement_);
        } else {
            throw BadInput(
                fmt::format("the character {} at byte {} is not in the vocabulary of {} characters: leave it out, "
                            "train on a text that has it, or train with --tokenizer bpe, which takes any text",
                            describe(c), start, vocab_size()));
        }
        if (ids.size() < part) continue;
        take(ids, at);
        ids.clear();
    }
    if (!ids.empty()) take(ids, text.size());
}

bool CharTokenizer::knows(std::string_view text) const {
    for (std::size_t at = 0; at < text.size() && !has_byte_fallback();)
        if (id_of(formats::next_code_point(text, at)) < 0) return false;
    return true;
}

std::string CharTokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string text;
    text.reserve(ids.size());
    for (std::int32_t id : ids) {
        check<BadInput>(id >= 0 && static_cast<std::size_t>(id) < characters_.size(),
                        "token ids must be in [0, {}), got {}", characters_.size(), id);
        const char32_t c = characters_[static_cast<std::size_t>(id)];
        c < byte_token ? formats::append_utf8(text, c) : text.push_back(static_cast<char>(c - byte_token));
    }
    return text;
}

}  // namespace inkling::data
