#include "models/gguf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/tokenizers/bpe_tokenizer.h"
#include "data/tokenizers/char_tokenizer.h"
#include "engine/check.h"

namespace inkling::models {
namespace {

constexpr std::int32_t kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5;  // llama.cpp's kinds of tokens

struct Tokens {
    std::vector<std::string> texts;
    std::vector<std::int32_t> kinds;

    explicit Tokens(std::size_t n) : texts(n), kinds(n, kUnused) {
        for (std::size_t id = 0; id < n; ++id) texts[id] = fmt::format("[PAD{}]", id);
    }
    void set(std::size_t id, std::string text, std::int32_t kind) {
        texts[id] = std::move(text);
        kinds[id] = kind;
    }
};

void set_tokens(formats::GgufWriter& out, const Tokens& tokens) {
    out.set_texts("tokenizer.ggml.tokens", tokens.texts);
    out.set_i32s("tokenizer.ggml.token_type", tokens.kinds);
}

// As llama.cpp writes the tokens of RWKV: backslashes doubled, control characters by number.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\\')
            result += "\\\\";
        else if (byte < 0x20 || byte == 0x7f)
            result += fmt::format("\\x{:02x}", byte);
        else
            result += c;
    }
    return result;
}

// Characters are the longest tokens that fit, which is how llama.cpp reads RWKV's vocabulary. Its byte pairs would not
// do: they take token 11 for the end of a text when the file names none. A byte of byte fallback is a token of one
// byte; where a character is that byte too, the character's token counts.
void set_characters(formats::GgufWriter& out, const data::CharTokenizer& tokenizer, std::size_t vocab_size) {
    Tokens tokens(vocab_size);
    for (std::size_t id = 0; id < tokenizer.vocab_size(); ++id) {
        const auto token = static_cast<std::int32_t>(id);
        const char32_t c = tokenizer.characters()[id];
        const std::string text = tokenizer.decode(std::span(&token, 1));
        if (c < data::CharTokenizer::byte_token)
            tokens.set(id, escaped(text), kNormal);
        else if (text[0] < 0 || !std::count(tokenizer.characters().begin(), tokenizer.characters().end(), text[0]))
            tokens.set(id, fmt::format("\\x{:02x}", c - data::CharTokenizer::byte_token), kNormal);
    }
    out.set_text("tokenizer.ggml.model", "rwkv");
    set_tokens(out, tokens);
}

void check_known(const data::BpeTokenizer& tokenizer) {
    const data::BpeSpec& spec = tokenizer.spec();
    const auto require = [](bool good, const char* what) {
        check<BadInput>(good, "gguf: tokenizer.json: {}: only GPT-2's form of byte pairs is supported", what);
    };
    const auto& pre = spec.pre_tokenizer;
    require(pre.splits.empty() && pre.gpt2_pattern, "the text is split by a pattern of its own");
    require(!pre.add_prefix_space, "add_prefix_space is true");
    require(!spec.ignore_merges, "ignore_merges is true");
    for (const data::AddedToken& t : spec.added)
        require(!t.single_word && !t.lstrip && !t.rstrip, "an added token has single_word, lstrip or rstrip");
    require(tokenizer.end_of_text().has_value(), "there is no <|endoftext|>, and llama.cpp would take token 11 for it");
}

void set_byte_pairs(formats::GgufWriter& out, const data::BpeTokenizer& tokenizer, std::size_t vocab_size) {
    check_known(tokenizer);
    const data::BpeSpec& spec = tokenizer.spec();
    Tokens tokens(vocab_size);
    for (std::size_t id = 0; id < spec.vocab.size(); ++id)
        if (!spec.vocab[id].empty()) tokens.set(id, spec.vocab[id], kNormal);
    for (const data::AddedToken& t : spec.added)
        tokens.set(static_cast<std::size_t>(t.id), t.content, t.special ? kControl : kUserDefined);
    std::vector<std::string> merges;
    for (const data::Merge& m : spec.merges) {
        const auto text = [&](std::int32_t id) { return spec.vocab[static_cast<std::size_t>(id)]; };
        merges.push_back(text(m.left) + " " + text(m.right));
    }
    const auto end = static_cast<std::uint32_t>(*tokenizer.end_of_text());
    out.set_text("tokenizer.ggml.model", "gpt2");
    out.set_text("tokenizer.ggml.pre", "gpt-2");
    set_tokens(out, tokens);
    out.set_texts("tokenizer.ggml.merges", merges);
    out.set_u32("tokenizer.ggml.bos_token_id", end);
    out.set_u32("tokenizer.ggml.eos_token_id", end);
    out.set_bool("tokenizer.ggml.add_bos_token", false);
}

}  // namespace

void set_gguf_tokenizer(formats::GgufWriter& out, const data::Tokenizer& tokenizer, std::size_t vocab_size) {
    check(vocab_size >= tokenizer.vocab_size(), "gguf: {} tokens do not fit a vocabulary of {}", tokenizer.vocab_size(),
          vocab_size);
    if (const auto* const characters = dynamic_cast<const data::CharTokenizer*>(&tokenizer))
        return set_characters(out, *characters, vocab_size);
    const auto* const pairs = dynamic_cast<const data::BpeTokenizer*>(&tokenizer);
    check<BadInput>(pairs, "gguf: a tokenizer of kind {} is not supported", name_of(tokenizer.kind()));
    set_byte_pairs(out, *pairs, vocab_size);
}

}  // namespace inkling::models
