// One id a character (Unicode code point), numbered in code point order as nanoGPT's character data sets are:
//   auto tokenizer = CharTokenizer::from_text("hello");   // e h l o
//   tokenizer.encode("hole");                             // 1 3 2 0
#pragma once

#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

class CharTokenizer final : public Tokenizer {
  public:
    // The characters that the text has. Throws BadInput when it is empty or not UTF-8.
    static CharTokenizer from_text(std::string_view text);

    // The same of several texts.
    static CharTokenizer from_texts(std::span<const std::string_view> texts);

    // characters[id], all different; throws BadInput for duplicates and for an empty vocabulary.
    explicit CharTokenizer(std::vector<char32_t> characters);

    void encode_parts(std::string_view text, const TakeIds& take) const override;
    std::string decode(std::span<const std::int32_t> ids) const override;
    std::size_t safe_cut(std::string_view text, std::size_t from) const override;
    std::size_t vocab_size() const override { return characters_.size(); }
    std::string to_json() const override;
    TokenizerKind kind() const override { return TokenizerKind::characters; }

  private:
    std::vector<char32_t> characters_;  // by id
    std::vector<std::int32_t> ids_;     // by code point, up to the largest in the vocabulary; -1: none
};

}  // namespace inkling::data
