// Byte-level byte pair encoding, as in GPT-2: every text can be encoded, decode(encode(x)) == x for any bytes x (unless
// add_prefix_space is set), and ids are those of the `tokenizers` library.
//   const auto tokenizer = load_tokenizer(folder);                  // tokenizer_json.h
//   const BpeTokenizer mine(train_bpe(texts, 8192));                // bpe_train.h
//   mine.encode("Hello world!<|endoftext|>");
// Large texts are encoded part by part, by several threads; the ids do not depend on how many.
#pragma once

#include <optional>
#include <unordered_map>

#include "data/tokenizers/added_tokens.h"
#include "data/tokenizers/byte_pairs.h"
#include "data/tokenizers/pre_tokenizer.h"
#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

inline constexpr char end_of_text_token[] = "<|endoftext|>";

// What a tokenizer.json holds.
struct BpeSpec {
    std::vector<std::string> vocab;  // by id, in byte letters; "": the model has no such id
    std::vector<Merge> merges;       // in the order in which they were learned
    std::vector<AddedToken> added;
    PreTokenizerSpec pre_tokenizer;
    bool ignore_merges = false;  // a piece that is in the vocabulary is that token, whatever the merges make of it
    bool operator==(const BpeSpec&) const = default;
};

class BpeTokenizer final : public Tokenizer {
  public:
    // Throws BadInput for an empty vocabulary, tokens that appear twice, and patterns that cannot be used.
    explicit BpeTokenizer(BpeSpec spec);
    BpeTokenizer(BpeTokenizer&&) = delete;

    // Throws BadInput for a byte that is not in the vocabulary (most have all 256), and if a pattern would take too
    // long.
    void encode_parts(std::string_view text, const TakeIds& take) const override;
    // Bytes: a token, and even the whole, may begin or end inside a character (utf8_stream.h makes text of them).
    std::string decode(std::span<const std::int32_t> ids) const override;
    std::size_t safe_cut(std::string_view text, std::size_t from) const override;
    std::size_t vocab_size() const override { return bytes_.size(); }
    std::string to_json() const override;
    TokenizerKind kind() const override { return TokenizerKind::byte_pairs; }
    std::optional<std::int32_t> end_of_text() const override { return end_of_text_; }

    const BpeSpec& spec() const { return spec_; }

  private:
    // Text to encode at once, followed by an added token unless `id` is -1.
    struct Task {
        std::string_view text;
        std::int32_t id = -1;
    };
    class Encoder;
    void encode_tasks(std::span<const Task> tasks, std::string_view text, const TakeIds& take) const;

    BpeSpec spec_;
    AddedTokens added_;
    PreTokenizer pre_tokenizer_;
    std::vector<std::string> bytes_;                       // by id
    std::unordered_map<std::string, std::int32_t> whole_;  // by bytes, for ignore_merges alone
    std::optional<BytePairs> pairs_;
    std::optional<std::int32_t> end_of_text_;
    std::size_t longest_ = 0;  // of whole_, in bytes
    bool may_be_cut_ = false;  // at gpt2_safe_cut
};

}  // namespace inkling::data
