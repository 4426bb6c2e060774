// Byte pair encoding: over bytes as in GPT-2, Llama 3 and Qwen, or over characters as in Llama 2 and Mistral. Ids match
// the `tokenizers` library.
//   const auto tokenizer = load_tokenizer(folder);                  // tokenizer_json.h
//   const BpeTokenizer mine(train_bpe(texts, 8192));                // bpe_train.h
//   mine.encode("Hello world!<|endoftext|>");
// Encoding: added tokens, normalizer, pre-tokenizer, model. Decoding: decoder. Over bytes and without steps that change
// the text, decode(encode(x)) == x for any bytes x. Several threads encode parts of large texts; the ids do not depend
// on their number.
#pragma once

#include <optional>

#include "data/tokenizers/added_tokens.h"
#include "data/tokenizers/bpe/bpe_model.h"
#include "data/tokenizers/normalizer.h"
#include "data/tokenizers/split/pre_tokenizer.h"
#include "data/tokenizers/token_decoder.h"
#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

inline constexpr char end_of_text_token[] = "<|endoftext|>";

// A token that post-processing adds before or after a text, such as Llama 3's <|begin_of_text|>.
struct SpecialToken {
    std::string name;
    std::vector<std::int32_t> ids;
    bool operator==(const SpecialToken&) const = default;
};

// The content of a tokenizer.json.
struct BpeSpec : BpeModelSpec {
    std::vector<NormalizerStep> normalizer = {};
    PreTokenizerSpec pre_tokenizer = {};
    std::vector<AddedToken> added = {};
    std::vector<SpecialToken> before = {}, after = {};
    std::vector<DecoderStep> decoder = {{}};  // ByteLevel
    bool operator==(const BpeSpec&) const = default;
};

class BpeTokenizer final : public Tokenizer {
  public:
    // Throws BadInput for an empty vocabulary, duplicate tokens, and unsupported patterns.
    explicit BpeTokenizer(BpeSpec spec);
    BpeTokenizer(BpeTokenizer&&) = delete;

    // Throw BadInput for a byte or character outside the vocabulary (most vocabularies have all bytes), and if a
    // pattern would take too long.
    void encode_parts(std::string_view text, const TakeIds& take) const override { encode(text, take, true); }
    void encode_plain_parts(std::string_view text, const TakeIds& take, bool begins = true) const override {
        encode(text, take, false, begins);
    }
    void cut_added(std::string_view text, const TakePart& take) const override { added_.cut(text, take); }
    bool is_special(std::int32_t id) const override;
    using Tokenizer::encode;
    // Returns bytes: tokens may begin or end inside a character (utf8_stream.h joins them).
    std::string decode(std::span<const std::int32_t> ids) const override { return decode(ids, true); }
    std::string decode_more(std::span<const std::int32_t> ids) const override { return decode(ids, false); }
    std::size_t vocab_size() const override { return texts_.size(); }
    std::string to_json() const override;
    TokenizerKind kind() const override { return TokenizerKind::byte_pairs; }
    std::optional<std::int32_t> end_of_text() const override;
    std::vector<std::int32_t> tokens_before() const override { return ids_of(spec_.before); }
    std::vector<std::int32_t> tokens_after() const override { return ids_of(spec_.after); }

    const BpeSpec& spec() const { return spec_; }

  private:
    // A part of the text, followed by an added token unless `id` is -1.
    struct Task {
        std::string_view text;
        std::int32_t id = -1;
        bool first = false;                                  // at the start of the whole text
        std::size_t begin = 0, end = 0;                      // position in the whole text
        std::shared_ptr<const std::string> owner = nullptr;  // of normalized text
    };
    class Batch;
    void encode(std::string_view text, const TakeIds& take, bool special, bool begins = true) const;
    void encode_task(BpeModel::Encoder& encoder, PreTokenizer::Scan& scan, const Task& task,
                     std::vector<std::int32_t>& ids, const TakeIds& full) const;
    void encode_tasks(std::span<const Task> tasks, const TakeIds& take) const;
    std::size_t cut(std::string_view normalized, std::size_t from) const;
    std::string decode(std::span<const std::int32_t> ids, bool begins) const;
    static std::vector<std::int32_t> ids_of(const std::vector<SpecialToken>& special_tokens);

    BpeSpec spec_;
    AddedTokens added_;
    PreTokenizer pre_tokenizer_;
    BpeModel model_;
    std::vector<std::string> texts_;  // of all tokens by id, before the steps of the decoder
    bool joins_;                      // decoding joins the texts: its only step is ByteLevel
    std::optional<std::int32_t> end_of_text_;
    bool may_be_cut_ = false;  // whether raw text may be cut at gpt2_safe_cut
    std::shared_ptr<PieceCaches> caches_ = std::make_shared<PieceCaches>();
};

}  // namespace inkling::data
