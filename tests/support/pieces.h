// A tokenizer of any pieces: id i is the text of piece i; a text is encoded byte by byte.
//   const Pieces tokenizer({"a", "b", "ab"}, 2);  // whose end of text is "ab"
#pragma once

#include <string_view>
#include <utility>

#include "data/tokenizers/tokenizer.h"
#include "engine/base/check.h"

namespace inkling::testing {

class Pieces : public data::Tokenizer {
  public:
    explicit Pieces(std::vector<std::string> pieces, std::optional<std::int32_t> end = std::nullopt)
        : pieces_(std::move(pieces)), end_(end) {}

    void encode_parts(std::string_view text, const TakeIds& take) const override {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const auto at = std::find(pieces_.begin(), pieces_.end(), text.substr(i, 1));
            check<BadInput>(at != pieces_.end(), "byte {} is not in the vocabulary", i);
            const auto id = static_cast<std::int32_t>(at - pieces_.begin());
            take(std::span(&id, 1), i + 1);
        }
    }
    std::string decode(std::span<const std::int32_t> ids) const override {
        std::string text;
        for (const std::int32_t id : ids) text += pieces_.at(static_cast<std::size_t>(id));
        return text;
    }
    std::size_t vocab_size() const override { return pieces_.size(); }
    std::string to_json() const override { return ""; }
    data::TokenizerKind kind() const override { return data::TokenizerKind::byte_pairs; }
    std::optional<std::int32_t> end_of_text() const override { return end_; }

  private:
    std::vector<std::string> pieces_;
    std::optional<std::int32_t> end_;
};

}  // namespace inkling::testing
