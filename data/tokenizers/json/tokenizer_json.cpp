#include "data/tokenizers/json/tokenizer_json.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/json/bpe_json.h"
#include "data/tokenizers/json/json_parts.h"
#include "engine/base/check.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "formats/named.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int max_depth = 128;

void refuse_part(const json& root, const char* key, const std::string& what) {
    const json& part = at_or_null(root, key);
    check<BadInput>(part.is_null(), "{}: a character tokenizer has no {}, got type '{}'", what, key, type_of(part));
}

// <0x00> to <0xFF>, as `tokenizers` reads them; other tokens are no bytes.
std::optional<char32_t> byte_of(const std::string& token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
    if (error != std::errc() || end != token.data() + 5 || fmt::format("<0x{:02X}>", byte) != token)
        return std::nullopt;
    return byte;
}

// Converts {"a": 0, "b": 1, "<0x00>": 2} to characters by id.
std::vector<char32_t> characters_by_id(const json& vocab, bool byte_fallback, const std::string& what) {
    std::vector<char32_t> characters(vocab.size(), formats::invalid_code_point);
    for (const auto& [token, id] : vocab.items()) {
        auto points = formats::to_code_points(token);
        if (const auto byte = byte_of(token); byte && byte_fallback) points = {CharTokenizer::byte_token + *byte};
        check<BadInput>(points.size() == 1, "{}: a character vocabulary has tokens of one character, got {}", what,
                        quote(token));
        check<BadInput>(id.is_number_unsigned() && id.get<std::uint64_t>() < vocab.size(),
                        "{}: ids must be whole numbers in [0, {}), {} has {}", what, vocab.size(), quote(token),
                        quote(id));
        char32_t& slot = characters[id.get<std::size_t>()];
        check<BadInput>(slot == formats::invalid_code_point, "{}: id {} is used twice", what, quote(id));
        slot = points[0];
    }
    return characters;
}

// Reads a BPE model without merges and without steps that change the text before or after it.
std::unique_ptr<Tokenizer> parse_characters(const json& root, const json& model, const std::string& what) {
    for (const char* part : {"normalizer", "pre_tokenizer"}) refuse_part(root, part, what);
    if (!is_empty_template(at_or_null(root, "post_processor"))) refuse_part(root, "post_processor", what);
    const json& decoder = at_or_null(root, "decoder");
    const json& fallback = at_or_null(model, "byte_fallback");
    check<BadInput>(fallback.is_null() || fallback.is_boolean(), "{}: model.byte_fallback must be true or false", what);
    const bool bytes = fallback == true;
    static const json fuse = {{"type", "Fuse"}}, both = {{"type", "ByteFallback"}};
    const bool decodes_bytes = type_of(decoder) == "Sequence" && at_or_null(decoder, "decoders") == json({both, fuse});
    check<BadInput>(bytes ? decodes_bytes : type_of(decoder) == "Fuse",
                    "{}: the decoder of a character tokenizer {} byte_fallback is {}, got type '{}'", what,
                    bytes ? "with" : "without", bytes ? "ByteFallback and Fuse" : "Fuse", type_of(decoder));
    const json& added = at_or_null(root, "added_tokens");
    check<BadInput>(added.is_null() || (added.is_array() && added.empty()),
                    "{}: a character tokenizer has no added_tokens, got {}", what, added.size());
    for (const char* key : {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"})
        check<BadInput>(at_or_null(model, key).is_null(), "{}: model.{} must be null in a character tokenizer", what,
                        key);
    for (const char* key : {"fuse_unk", "ignore_merges"}) {
        const json& flag = at_or_null(model, key);
        check<BadInput>(flag.is_null() || flag == false, "{}: model.{} must be false in a character tokenizer", what,
                        key);
    }
    return formats::named(
        what, [&] { return std::make_unique<CharTokenizer>(characters_by_id(model["vocab"], bytes, what)); });
}

// The constructor compiles patterns; an error there names the file.
std::unique_ptr<Tokenizer> make_bpe(const std::string& what, BpeSpec spec) {
    return formats::named(what, [&] { return std::make_unique<BpeTokenizer>(std::move(spec)); });
}

std::unique_ptr<Tokenizer> read_tokenizer(const fs::path& file) {
    auto tokenizer = parse_tokenizer(formats::read_file(file, formats::FileKind::json), file.string());
    tokenizer->origin = file.string();
    return tokenizer;
}

}  // namespace

std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view tokenizer_json, const std::string& what) {
    const json root = formats::parse_json(tokenizer_json, what, max_depth);
    check<BadInput>(root.is_object() && at_or_null(root, "model").is_object(),
                    "{}: not a tokenizer: it has no \"model\" object", what);
    const json &model = root["model"], &merges = at_or_null(model, "merges");
    const auto has_bytes = [&](const char* part) {
        return at_or_null(root, part).dump().find("\"ByteLevel\"") != std::string::npos;
    };
    const bool characters = type_of(model) == "BPE" && merges.is_array() && merges.empty() &&
                            !has_bytes("pre_tokenizer") && !has_bytes("decoder");
    if (!characters) return make_bpe(what, parse_bpe(root, what));
    check<BadInput>(at_or_null(model, "vocab").is_object() && !model["vocab"].empty(),
                    "{}: model.vocab must map tokens to ids", what);
    return parse_characters(root, model, what);
}

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& path) {
    if (!formats::is_folder(path)) return read_tokenizer(path);
    const fs::path whole = path / "tokenizer.json";
    for (const auto& [vocab, merges] :
         {std::pair("vocab.json", "merges.txt"), std::pair("encoder.json", "vocab.bpe")}) {
        const fs::path v = path / vocab, m = path / merges;
        if (formats::is_there(whole) || !formats::is_there(v) || !formats::is_there(m)) continue;
        auto tokenizer =
            make_bpe(v.string(), parse_vocab_and_merges(formats::read_file(v, formats::FileKind::json), v.string(),
                                                        formats::read_file(m, formats::FileKind::merges), m.string()));
        tokenizer->origin = v.string();
        return tokenizer;
    }
    formats::refuse_other_form(whole, {"tokenizer.model"},
                               "from transformers import AutoTokenizer as T; "
                               "T.from_pretrained('{0}').save_pretrained('{0}')");
    return read_tokenizer(whole);
}

}  // namespace inkling::data
