// The third step of a tokenizer: encodes a piece of text by byte pair encoding.
//   const BpeModel model(spec);
//   BpeModel::Encoder encoder(model);                     // one per thread
//   encoder.append_ids(" world", ids);
// Symbols are bytes, written as byte letters, or characters. An unknown character becomes its bytes (<0x00> to <0xFF>),
// else the unknown token, else it is an error.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizers/bpe/byte_pairs.h"
#include "data/tokenizers/bpe/piece_cache.h"

namespace inkling::data {

// "model" in tokenizer.json.
struct BpeModelSpec {
    std::vector<std::string> vocab;  // by id; "": unused id
    std::vector<Merge> merges;       // in the order learned
    bool ignore_merges = false;      // a piece in the vocabulary is that token, without merges
    bool byte_letters = true;        // false: characters; the next three are for characters only
    std::optional<std::string> unk_token = std::nullopt;
    bool fuse_unk = false;  // one token for adjacent unknown characters
    bool byte_fallback = false;
    bool operator==(const BpeModelSpec&) const = default;
};

class BpeModel {
  public:
    // Throws BadInput for an empty vocabulary and duplicate tokens.
    explicit BpeModel(const BpeModelSpec& spec);

    // The bytes of each token; for character models, the token itself.
    const std::vector<std::string>& bytes() const { return bytes_; }     // by id
    std::vector<std::string> take_bytes() { return std::move(bytes_); }  // encoding does without

    // Whether text may be cut at cut_before: no merge joins a U+2581 with what precedes it.
    bool may_be_cut() const { return may_be_cut_; }
    static std::size_t cut_before(std::string_view text, std::size_t from);  // the end of the text without a cut

    class Encoder {
      public:
        explicit Encoder(const BpeModel& model, PieceCache cache = {}) : model_(model), cache_(std::move(cache)) {}

        // `between`, if given, is called now and then in a long piece and may consume the ids so far.
        void append_ids(std::string_view piece, std::vector<std::int32_t>& ids, const BytePairs::Between& between);
        PieceCache take_cache() { return std::move(cache_); }  // at the end

      private:
        void append_symbols(std::string_view piece);

        const BpeModel& model_;
        PieceCache cache_;
        std::vector<std::int32_t> symbols_;
    };

  private:
    bool byte_letters_, fuse_unk_, may_be_cut_ = false;
    std::vector<std::string> bytes_;
    std::unordered_map<std::string, std::int32_t> whole_;  // by bytes, only for ignore_merges
    std::size_t longest_ = 0;                              // longest key of whole_, in bytes
    std::vector<std::int32_t> characters_;                 // by code point, up to the largest in the vocabulary
    std::array<std::int32_t, 256> byte_ids_;               // of byte letters or of byte fallback; -1: none
    std::int32_t unknown_ = -1;
    BytePairs pairs_;
};

}  // namespace inkling::data
