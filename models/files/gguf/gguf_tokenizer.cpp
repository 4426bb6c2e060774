#include "models/files/gguf/gguf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/char_tokenizer.h"
#include "engine/base/check.h"
#include "models/families/family.h"
#include "models/files/gguf/gguf_tokens.h"
#include "models/files/special_tokens.h"

namespace inkling::models {
namespace {

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

// Escapes a token like llama.cpp for RWKV: doubled backslashes, control characters by number.
std::string escape(const std::string& text) {
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
        const unsigned byte = c - data::CharTokenizer::byte_token;
        if (c < data::CharTokenizer::byte_token)
            tokens.set(id, escape(tokenizer.decode(std::span(&token, 1))), kNormal);
        else if (byte >= 0x80 || !std::count(tokenizer.characters().begin(), tokenizer.characters().end(), byte))
            tokens.set(id, fmt::format("\\x{:02x}", byte), kNormal);
    }
    out.set_text("tokenizer.ggml.model", "rwkv");
    set_tokens(out, tokens);
}

void require(bool good, const std::string& what) { check<BadInput>(good, "gguf: tokenizer.json: {}", what); }

// Whether the merges turn each token's bytes, alone in a piece, into that token.
bool merges_make_all(const data::BpeSpec& spec) {
    data::BpeModelSpec merging = spec;
    merging.ignore_merges = false;
    const data::BpeModel model(merging);
    data::BpeModel::Encoder encoder(model);
    for (const data::Merge& m : spec.merges) {
        std::vector<std::int32_t> ids;
        encoder.append_ids(model.bytes()[static_cast<std::size_t>(m.merged)], ids, nullptr);
        if (ids != std::vector<std::int32_t>{m.merged}) return false;
    }
    return true;
}

const GgufSplit& known_split(const data::BpeSpec& spec) {
    for (const GgufSplit& known : gguf_splits()) {
        if (known.spec != spec.pre_tokenizer) continue;
        require(known.ignores_merges == spec.ignore_merges || merges_make_all(spec),
                fmt::format("ignore_merges is {}, and {} in llama.cpp's {}", spec.ignore_merges, known.ignores_merges,
                            known.name));
        return known;
    }
    const auto* const bytes = spec.pre_tokenizer.byte_level();
    require(!bytes->add_prefix_space, "add_prefix_space is true, which llama.cpp does not have");
    require(false, "the text is split by a pattern of its own, which llama.cpp does not have");
    return gguf_splits()[0];
}

// Shared by the kinds of byte pairs.
void set_vocabulary(formats::GgufWriter& out, const data::BpeTokenizer& tokenizer, Tokens& tokens) {
    const data::BpeSpec& spec = tokenizer.spec();
    for (const data::AddedToken& t : spec.added) {
        require(!t.single_word && !t.lstrip && !t.rstrip, "an added token has single_word, lstrip or rstrip");
        const auto id = static_cast<std::size_t>(t.id);
        if (tokens.kinds[id] != kUnknown) tokens.set(id, t.content, t.special ? kControl : kUserDefined);
    }
    set_tokens(out, tokens);
}

void set_byte_pairs(formats::GgufWriter& out, const data::BpeTokenizer& tokenizer, std::size_t vocab_size) {
    const data::BpeSpec& spec = tokenizer.spec();
    const GgufSplit& split = known_split(spec);
    for (const data::NormalizerStep& step : spec.normalizer)  // llama.cpp leaves NFC to its user
        require(step.kind == data::NormalizerStep::Kind::nfc, "its normalizer does more than NFC");
    Tokens tokens(vocab_size);
    for (std::size_t id = 0; id < spec.vocab.size(); ++id)
        if (!spec.vocab[id].empty()) tokens.set(id, spec.vocab[id], kNormal);
    std::vector<std::string> merges;
    for (const data::Merge& m : spec.merges) {
        const auto text = [&](std::int32_t id) { return spec.vocab[static_cast<std::size_t>(id)]; };
        merges.push_back(text(m.left) + " " + text(m.right));
    }
    out.set_text("tokenizer.ggml.model", "gpt2");
    out.set_text("tokenizer.ggml.pre", split.name);
    set_vocabulary(out, tokenizer, tokens);
    out.set_texts("tokenizer.ggml.merges", merges);
}

// Whether the steps begin text with U+2581 and replace each space by one, as SentencePiece needs.
struct Spaces {
    bool replaced = false, prefix = false;
};

Spaces spaces_of(const data::BpeSpec& spec) {
    using Kind = data::NormalizerStep::Kind;
    Spaces spaces;
    bool other = false;
    for (const data::NormalizerStep& step : spec.normalizer) {
        const bool sign = step.content == kSpaceSign;
        if (step.kind == Kind::prepend && sign && !spaces.prefix)
            spaces.prefix = true;
        else if (step.kind == Kind::replace && sign && step.pattern == data::Pattern(" ", true))
            spaces.replaced = true;
        else
            other = true;
    }
    for (const data::PreTokenizerStep& step : spec.pre_tokenizer.steps) {
        const auto* const split = std::get_if<data::SplitStep>(&step);
        if (split && spaces.replaced && split->pattern == data::Pattern(" ", true)) continue;  // none is left
        const auto* const signs = std::get_if<data::MetaspaceStep>(&step);
        if (signs && signs->sign == kSpaceSign && !signs->split && !spaces.replaced) {
            spaces = {true, signs->prepend != data::PrependScheme::never};
        } else {
            other = true;
        }
    }
    if (other) spaces.replaced = false;
    return spaces;
}

// llama.cpp merges whatever two tokens make a third, that with the highest score first: so the merges must be all
// there are, and those of one token stand together.
std::vector<float> scores_of(const data::BpeSpec& spec, const Tokens& tokens) {
    const auto text = [&](std::int32_t id) -> const std::string& { return spec.vocab[static_cast<std::size_t>(id)]; };
    std::vector<float> scores(tokens.texts.size(), 0);
    std::unordered_map<std::string_view, std::int32_t> ids;
    for (std::size_t id = 0; id < spec.vocab.size(); ++id)
        if (tokens.kinds[id] == kNormal) ids.emplace(spec.vocab[id], static_cast<std::int32_t>(id));
    std::unordered_map<std::int32_t, std::size_t> count;  // of merges that make a token
    for (std::size_t i = 0; i < spec.merges.size(); ++i) {
        const std::int32_t merged = spec.merges[i].merged;
        const bool again = i > 0 && spec.merges[i - 1].merged == merged;
        require(again == (count[merged]++ > 0), "its merges are not in SentencePiece's order");
        scores[static_cast<std::size_t>(merged)] = -static_cast<float>(count.size());
    }
    for (const auto& [token, id] : ids) {
        std::size_t pairs = 0;
        for (std::size_t cut = 1; cut < token.size(); ++cut)
            pairs += ids.count(token.substr(0, cut)) && ids.count(token.substr(cut));
        require(pairs == (count.count(id) ? count[id] : 0),
                fmt::format("its merges are not all that SentencePiece has: {} of {} make {}",
                            count.count(id) ? count[id] : 0, pairs, text(id)));
    }
    return scores;
}

// Characters with merges, as in Llama 2: SentencePiece's tokens with scores.
void set_sentence_piece(formats::GgufWriter& out, const data::BpeTokenizer& tokenizer, std::size_t vocab_size) {
    const data::BpeSpec& spec = tokenizer.spec();
    const Spaces spaces = spaces_of(spec);
    require(spaces.replaced, "its normalizer and pre_tokenizer do not do what SentencePiece's do, and no more");
    require(spec.byte_fallback && !spec.ignore_merges, "byte_fallback is false, or ignore_merges is true");
    Tokens tokens(vocab_size);
    std::size_t bytes = 0;
    for (std::size_t id = 0; id < spec.vocab.size(); ++id) {
        const std::string& token = spec.vocab[id];
        const bool byte = token.size() == 6 && token.starts_with("<0x") && token.ends_with('>');
        bytes += byte;
        if (!token.empty()) tokens.set(id, token, byte ? kByte : token == spec.unk_token ? kUnknown : kNormal);
    }
    require(bytes == 256, "the vocabulary lacks tokens of bytes");
    out.set_text("tokenizer.ggml.model", "llama");
    out.set_text("tokenizer.ggml.pre", "default");
    set_vocabulary(out, tokenizer, tokens);
    out.set_f32s("tokenizer.ggml.scores", scores_of(spec, tokens));
    out.set_bool("tokenizer.ggml.add_space_prefix", spaces.prefix);
}

}  // namespace

void set_gguf_tokenizer(formats::GgufWriter& out, const data::Tokenizer& tokenizer, const Architecture& model) {
    const std::size_t vocab_size = model.vocab_size;
    if (tokenizer.chat && !tokenizer.chat->jinja.empty())
        out.set_text("tokenizer.chat_template", tokenizer.chat->jinja);
    check(vocab_size >= tokenizer.vocab_size(), "gguf: {} tokens do not fit a vocabulary of {}", tokenizer.vocab_size(),
          vocab_size);
    if (tokenizer.kind() == data::TokenizerKind::ids) {
        out.set_u32(family(model.family).gguf_name + ".vocab_size", static_cast<std::uint32_t>(vocab_size));
        return out.set_text("tokenizer.ggml.model", kNoTokenizer);
    }
    set_gguf_special_tokens(out, tokenizer, model);
    if (const auto* const characters = dynamic_cast<const data::CharTokenizer*>(&tokenizer))
        return set_characters(out, *characters, vocab_size);
    const auto* const pairs = dynamic_cast<const data::BpeTokenizer*>(&tokenizer);
    check<BadInput>(pairs, "gguf: a tokenizer of kind {} is not supported", name_of(tokenizer.kind()));
    pairs->spec().byte_letters ? set_byte_pairs(out, *pairs, vocab_size) : set_sentence_piece(out, *pairs, vocab_size);
}

}  // namespace inkling::models
