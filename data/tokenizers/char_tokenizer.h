// One id per character (Unicode code point), in code point order as in nanoGPT's character data sets:
//   auto tokenizer = CharTokenizer::from_text("hello");   // e h l o
//   tokenizer.encode("hole");                             // 1 3 2 0
// A character outside the vocabulary is an error, or replaced by a known one (unknown_characters.h). With byte fallback
// it becomes its UTF-8 bytes, whose ids follow those of the characters, as in `tokenizers` and SentencePiece.
#pragma once

#include <array>

#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

enum class ByteFallback {
    never,
    automatic,  // if that makes the vocabulary smaller
    always,
};

constexpr auto names(ByteFallback) {
    return name_table<ByteFallback>(
        {{ByteFallback::never, "never"}, {ByteFallback::automatic, "auto"}, {ByteFallback::always, "always"}});
}

class CharTokenizer final : public Tokenizer {
  public:
    // The vocabulary is the characters of the text. Throws BadInput if it is empty or not UTF-8.
    static CharTokenizer from_text(std::string_view text);

    // The same for several texts. With byte fallback, the rarest characters (together 1 in 2,000 of the text) become
    // bytes, so that a model learns bytes from them (SentencePiece's character_coverage of 0.9995).
    static CharTokenizer from_texts(std::span<const std::string_view> texts,
                                    ByteFallback byte_fallback = ByteFallback::never);

    // characters[id], all distinct; byte_token + b is byte b, for all 256 or none. Throws BadInput for duplicates and
    // for an empty vocabulary.
    explicit CharTokenizer(std::vector<char32_t> characters);
    static constexpr char32_t byte_token = 0x110000;

    void encode_parts(std::string_view text, const TakeIds& take) const override;
    std::string decode(std::span<const std::int32_t> ids) const override;
    bool knows(std::string_view text) const override;
    std::size_t vocab_size() const override { return characters_.size(); }
    std::string to_json() const override;
    TokenizerKind kind() const override { return TokenizerKind::characters; }

    bool has_byte_fallback() const { return bytes_[0] >= 0; }
    const std::vector<char32_t>& characters() const { return characters_; }  // by id

  private:
    std::int32_t id_of(char32_t c) const { return c < ids_.size() ? ids_[c] : -1; }

    std::vector<char32_t> characters_;     // by id
    std::vector<std::int32_t> ids_;        // by code point, up to the largest in the vocabulary; -1: none
    std::array<std::int32_t, 256> bytes_;  // ids of single bytes; -1: no byte fallback
    std::int32_t replacement_ = 0;         // replaces unknown characters
};

}  // namespace inkling::data
