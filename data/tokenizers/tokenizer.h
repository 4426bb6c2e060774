// The interface of tokenizers: text to ids in [0, vocab_size()) and back. Kinds: CharTokenizer (char_tokenizer.h),
// BpeTokenizer (bpe_tokenizer.h) and IdTokenizer (id_tokenizer.h), for models without a tokenizer; load_tokenizer
// (tokenizer_json.h) opens the tokenizer.json of a model folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/unknown_characters.h"
#include "engine/base/names.h"

namespace inkling::data {

enum class TokenizerKind { characters, byte_pairs, ids };

constexpr auto names(TokenizerKind) {
    return name_table<TokenizerKind>(
        {{TokenizerKind::characters, "char"}, {TokenizerKind::byte_pairs, "bpe"}, {TokenizerKind::ids, "ids"}});
}

// A chat template (data/chat/chat_template.h) and its variables bos_token, eos_token, ...
struct ChatSource {
    std::string jinja;
    std::map<std::string, std::string> special_tokens;
    std::string names = {};  // of templates without a default; `jinja` is then empty
};

// Special tokens named in the files of a model folder, {"bos", 1}, {"pad", 0}, and whether to add them to a text,
// {"bos", true}, if the files say so.
struct NamedTokens {
    std::map<std::string, std::int32_t> ids;
    std::map<std::string, bool> added;
};

class Tokenizer {
  public:
    virtual ~Tokenizer() = default;

    // Calls take(ids, done) with the ids of a text in order, some thousands at a time, so that they need not all be in
    // memory. `done`: bytes of the text encoded so far. Throws BadInput if the text is not UTF-8 or has a character
    // outside the vocabulary (see `unknown`); discard the ids then.
    using TakeIds = std::function<void(std::span<const std::int32_t> ids, std::size_t done)>;
    virtual void encode_parts(std::string_view text, const TakeIds& take) const = 0;

    // The same for untrusted text: a special token spelled in it, such as <|endoftext|>, is encoded as text. `begins`:
    // nothing comes before it.
    virtual void encode_plain_parts(std::string_view text, const TakeIds& take, bool begins = true) const {
        static_cast<void>(begins);
        encode_parts(text, take);
    }

    // Cuts a text at its added tokens: take(part, -1) for text, take(spelled, id) for an added token.
    using TakePart = std::function<void(std::string_view part, std::int32_t id)>;
    virtual void cut_added(std::string_view text, const TakePart& take) const {
        if (!text.empty()) take(text, -1);
    }

    // Whether an id is a special token such as <|endoftext|>.
    virtual bool is_special(std::int32_t) const { return false; }

    // All ids in one vector.
    std::vector<std::int32_t> encode(std::string_view text) const {
        std::vector<std::int32_t> all;
        encode_parts(text, [&](auto ids, std::size_t) { all.insert(all.end(), ids.begin(), ids.end()); });
        return all;
    }
    std::vector<std::int32_t> encode_plain(std::string_view text, bool begins = true) const {
        std::vector<std::int32_t> all;
        encode_plain_parts(
            text, [&](auto ids, std::size_t) { all.insert(all.end(), ids.begin(), ids.end()); }, begins);
        return all;
    }

    // Throws BadInput if an id is not in [0, vocab_size()).
    virtual std::string decode(std::span<const std::int32_t> ids) const = 0;

    // The same for ids in the middle of a text: some tokenizers drop a space only at the start of a text.
    virtual std::string decode_more(std::span<const std::int32_t> ids) const { return decode(ids); }

    // Whether every character of the text can be encoded.
    virtual bool knows(std::string_view) const { return true; }

    virtual std::size_t vocab_size() const = 0;

    // The content of a tokenizer.json that gives the same ids in Hugging Face's `tokenizers`.
    virtual std::string to_json() const = 0;

    virtual TokenizerKind kind() const = 0;

    // The end-of-text id, if the vocabulary has one.
    virtual std::optional<std::int32_t> end_of_text() const { return std::nullopt; }

    // The special tokens that models of this tokenizer expect before and after each text, such as Llama's
    // begin-of-text. encode does not add them.
    virtual std::vector<std::int32_t> tokens_before() const { return {}; }
    virtual std::vector<std::int32_t> tokens_after() const { return {}; }

    // If set, unknown characters are replaced and counted here; otherwise they are an error.
    std::shared_ptr<UnknownCharacters> unknown;
    void take_unknown(bool strict) { unknown = strict ? nullptr : std::make_shared<UnknownCharacters>(); }

    // The chat template of its model folder, if any.
    std::optional<ChatSource> chat;
    NamedTokens named;

    std::string origin;  // its file, for messages; "" if it was trained here
};

}  // namespace inkling::data
