// What every tokenizer does: text to ids in [0, vocab_size()) and back. Kinds: CharTokenizer (char_tokenizer.h);
// load_tokenizer (tokenizer_json.h) opens the tokenizer.json of a model folder, whatever its kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::data {

class Tokenizer {
  public:
    virtual ~Tokenizer() = default;

    // Throws BadInput when the text is not UTF-8 or has something that the vocabulary can not write.
    virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;

    // Throws BadInput when an id is not in [0, vocab_size()).
    virtual std::string decode(std::span<const std::int32_t> ids) const = 0;

    // The first place at or after `from` where a text may be cut and its parts encoded by themselves, with the same
    // ids; the text's end when there is none.
    virtual std::size_t safe_cut(std::string_view text, std::size_t from) const = 0;

    virtual std::size_t vocab_size() const = 0;

    // The text of tokenizer.json, as the Hugging Face `tokenizers` library reads it, with the same ids.
    virtual std::string to_json() const = 0;

    // "char" or "bpe", as --tokenizer names it.
    virtual std::string kind() const = 0;

    // The id that ends a text, where the vocabulary has one.
    virtual std::optional<std::int32_t> end_of_text() const { return std::nullopt; }
};

}  // namespace inkling::data
