// Token ids as text, for models without a tokenizer: a text is the numbers of its tokens, "12 7 300".
#pragma once

#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

class IdTokenizer final : public Tokenizer {
  public:
    explicit IdTokenizer(std::size_t vocab_size) : size_(vocab_size) {}

    void encode_parts(std::string_view text, const TakeIds& take) const override;
    std::string decode(std::span<const std::int32_t> ids) const override;
    std::string decode_more(std::span<const std::int32_t> ids) const override;  // begins with a space
    bool knows(std::string_view text) const override;
    std::size_t vocab_size() const override { return size_; }
    std::string to_json() const override;  // to compare and to hash: such models have no tokenizer.json
    TokenizerKind kind() const override { return TokenizerKind::ids; }

  private:
    std::size_t size_;
};

}  // namespace inkling::data
