#include "data/tokenizers/json/tokenizer_json.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "data/tokenizers/bpe/byte_alphabet.h"
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

// The characters, in the order of ids, if CharTokenizer::to_json may have written the file.
std::optional<std::vector<char32_t>> characters_of(const BpeSpec& spec) {
    if (!spec.merges.empty() || spec != characters_spec(spec.vocab, spec.byte_fallback)) return std::nullopt;
    std::vector<char32_t> characters;
    for (const std::string& token : spec.vocab) {
        const std::vector<char32_t> points = formats::to_code_points(token);
        const auto byte = spec.byte_fallback ? fallback_byte(token) : std::nullopt;
        if (points.size() == 1)
            characters.push_back(points[0]);
        else if (byte && token == fallback_token(*byte))
            characters.push_back(CharTokenizer::byte_token + static_cast<unsigned char>(*byte));
        else
            return std::nullopt;
    }
    return characters;
}

// The constructors compile patterns and look for all bytes; an error there names the file.
std::unique_ptr<Tokenizer> make_tokenizer(BpeSpec spec, const std::string& what) {
    return formats::named(what, [&]() -> std::unique_ptr<Tokenizer> {
        if (auto characters = characters_of(spec)) return std::make_unique<CharTokenizer>(std::move(*characters));
        return std::make_unique<BpeTokenizer>(std::move(spec));
    });
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
    return make_tokenizer(parse_bpe(root, what), what);
}

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& path) {
    if (!formats::is_folder(path)) return read_tokenizer(path);
    const fs::path whole = path / "tokenizer.json";
    for (const auto& [vocab, merges] :
         {std::pair("vocab.json", "merges.txt"), std::pair("encoder.json", "vocab.bpe")}) {
        const fs::path v = path / vocab, m = path / merges;
        if (formats::is_there(whole) || !formats::is_there(v) || !formats::is_there(m)) continue;
        auto tokenizer =
            make_tokenizer(parse_vocab_and_merges(formats::read_file(v, formats::FileKind::json), v.string(),
                                                  formats::read_file(m, formats::FileKind::merges), m.string()),
                           v.string());
        tokenizer->origin = v.string();
        return tokenizer;
    }
    formats::refuse_other_form(whole, {"tokenizer.model"},
                               "from transformers import AutoTokenizer as T; "
                               "T.from_pretrained('{0}').save_pretrained('{0}')");
    return read_tokenizer(whole);
}

}  // namespace inkling::data
