// The interface of tokenizers: text to ids in [0, vocab_size()) and back. Kinds: CharTokenizer (char_tokenizer.h) and
// BpeTokenizer (bpe_tokenizer.h); load_tokenizer (tokenizer_json.h) opens the tokenizer.json of a model folder.
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

enum class TokenizerKind { characters, byte_pairs };

constexpr auto names(TokenizerKind) {
    return name_table<TokenizerKind>({{TokenizerKind::characters, "char"}, {TokenizerKind::byte_pairs, "bpe"}});
}

// How conversations are written: a template of data/chat/chat_template.h, and what it calls bos_token, eos_token, ...
struct ChatSource {
    std::string jinja;
    std::map<std::string, std::string> marks;
};

// The tokens that the files of a model folder name, {"bos", 1}, {"pad", 0}; and whether a text gets them, {"bos",
// true}, where the files say so.
struct NamedTokens {
    std::map<std::string, std::int32_t> ids;
    std::map<std::string, bool> added;
};

class Tokenizer {
  public:
    virtual ~Tokenizer() = default;

    // Calls take(ids, done) with the ids of a text in order, some thousands at a time, so that they need not all be in
    // memory. `done`: the bytes of the text that have been encoded. Throws BadInput when the text is not UTF-8 or has a
    // character that is not in the vocabulary (see `unknown`); the ids so far are then of no use.
    using TakeIds = std::function<void(std::span<const std::int32_t> ids, std::size_t done)>;
    virtual void encode_parts(std::string_view text, const TakeIds& take) const = 0;

    // The same of text that comes from others: where it spells a special token, such as <|endoftext|>, it is text.
    // `begins`: nothing comes before it.
    virtual void encode_plain_parts(std::string_view text, const TakeIds& take, bool begins = true) const {
        static_cast<void>(begins);
        encode_parts(text, take);
    }

    // Cuts a text at the added tokens that it spells: take(part, -1) for text, take(spelled, id) for these.
    using TakePart = std::function<void(std::string_view part, std::int32_t id)>;
    virtual void cut_added(std::string_view text, const TakePart& take) const {
        if (!text.empty()) take(text, -1);
    }

    // Whether an id is a mark such as <|endoftext|>, and not text.
    virtual bool is_special(std::int32_t) const { return false; }

    // encode_parts at once.
    std::vector<std::int32_t> encode(std::string_view text) const {
        std::vector<std::int32_t> all;
        encode_parts(text, [&](std::span<const std::int32_t> ids, std::size_t) {
            all.insert(all.end(), ids.begin(), ids.end());
        });
        return all;
    }

    // Throws BadInput when an id is not in [0, vocab_size()).
    virtual std::string decode(std::span<const std::int32_t> ids) const = 0;

    // The same of ids that others precede. Some tokenizers drop a space from the beginning of a text alone.
    virtual std::string decode_more(std::span<const std::int32_t> ids) const { return decode(ids); }

    // The first place at or after `from` where the text may be cut, so that its parts encoded separately give the same
    // ids; the end of the text if there is none.
    virtual std::size_t safe_cut(std::string_view text, std::size_t from) const = 0;

    // Whether the text is encoded as it is, without a character that is refused or replaced.
    virtual bool knows(std::string_view) const { return true; }

    virtual std::size_t vocab_size() const = 0;

    // The text of tokenizer.json, as the Hugging Face `tokenizers` library reads it, with the same ids.
    virtual std::string to_json() const = 0;

    virtual TokenizerKind kind() const = 0;

    // The id that ends a text, where the vocabulary has one.
    virtual std::optional<std::int32_t> end_of_text() const { return std::nullopt; }

    // What the models of this tokenizer see before and after each text: Llama's begin-of-text token, say. encode leaves
    // them out.
    virtual std::vector<std::int32_t> marks_before() const { return {}; }
    virtual std::vector<std::int32_t> marks_after() const { return {}; }

    // Characters that the vocabulary lacks are replaced and counted here; without it they are refused.
    std::shared_ptr<UnknownCharacters> unknown;

    // Of its model folder, where there is one.
    std::optional<ChatSource> chat;
    NamedTokens named;

    std::string origin;  // the file that it was read from, for messages; "": trained here
};

}  // namespace inkling::data
