#include "data/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "data/char_tokenizer.h"
#include "data/file.h"
#include "data/json.h"
#include "data/utf8.h"
#include "engine/check.h"

namespace inkling::data {

namespace {

using nlohmann::json;

constexpr int max_depth = 128;

// What is at a key, or null: absent and null mean the same to the `tokenizers` library.
const json& at_or_null(const json& object, const char* key) {
    static const json null;
    const auto found = object.find(key);
    return found == object.end() ? null : *found;
}

// The "type" of a part such as the decoder: "none" when it is absent.
std::string type_of(const json& part) {
    if (part.is_null()) return "none";
    if (part.is_object() && at_or_null(part, "type").is_string()) return at_or_null(part, "type").get<std::string>();
    return "unknown";
}

void refuse_part(const json& root, const char* key, const std::string& what) {
    const json& part = at_or_null(root, key);
    check<BadInput>(part.is_null(), "{}: a character tokenizer has no {}, got type '{}'", what, key, type_of(part));
}

// What transformers puts into every tokenizer that it saves: a template of the text and nothing else.
bool adds_nothing(const json& post_processor) {
    static const json text_alone = json::parse(R"([{"Sequence": {"id": "A", "type_id": 0}}])");
    return type_of(post_processor) == "TemplateProcessing" && at_or_null(post_processor, "single") == text_alone;
}

// For messages: escaped to one line of ASCII, and short.
std::string quote(const json& value) { return value.dump(-1, ' ', true).substr(0, 40); }

// {"a": 0, "b": 1} to characters by id.
std::vector<char32_t> characters_by_id(const json& vocab, const std::string& what) {
    std::vector<char32_t> characters(vocab.size(), invalid_code_point);
    for (const auto& [token, id] : vocab.items()) {
        const auto points = to_code_points(token);
        check<BadInput>(points.size() == 1, "{}: a character vocabulary has tokens of one character, got {}", what,
                        quote(token));
        check<BadInput>(id.is_number_unsigned() && id.get<std::uint64_t>() < vocab.size(),
                        "{}: ids must be whole numbers in [0, {}), {} has {}", what, vocab.size(), quote(token),
                        quote(id));
        char32_t& slot = characters[id.get<std::size_t>()];
        check<BadInput>(slot == invalid_code_point, "{}: id {} is used twice", what, quote(id));
        slot = points[0];
    }
    return characters;
}

// A BPE model without merges and without anything that would change the text before or after it.
std::unique_ptr<Tokenizer> parse_characters(const json& root, const json& model, const std::string& what) {
    for (const char* part : {"normalizer", "pre_tokenizer", "truncation", "padding"}) refuse_part(root, part, what);
    if (!adds_nothing(at_or_null(root, "post_processor"))) refuse_part(root, "post_processor", what);
    const json& decoder = at_or_null(root, "decoder");
    check<BadInput>(type_of(decoder) == "Fuse", "{}: the decoder of a character tokenizer is Fuse, got type '{}'", what,
                    type_of(decoder));
    const json& added = at_or_null(root, "added_tokens");
    check<BadInput>(added.is_null() || (added.is_array() && added.empty()),
                    "{}: a character tokenizer has no added_tokens, got {}", what, added.size());
    for (const char* key : {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"})
        check<BadInput>(at_or_null(model, key).is_null(), "{}: model.{} must be null in a character tokenizer", what,
                        key);
    for (const char* key : {"fuse_unk", "byte_fallback", "ignore_merges"}) {
        const json& flag = at_or_null(model, key);
        check<BadInput>(flag.is_null() || flag == false, "{}: model.{} must be false in a character tokenizer", what,
                        key);
    }
    return std::make_unique<CharTokenizer>(characters_by_id(model["vocab"], what));
}

}  // namespace

std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view tokenizer_json, const std::string& what) {
    const json root = parse_json(tokenizer_json, what, max_depth);
    check<BadInput>(root.is_object() && at_or_null(root, "model").is_object(),
                    "{}: not a tokenizer: it has no \"model\" object", what);
    const json& model = root["model"];
    check<BadInput>(type_of(model) == "BPE", "{}: model type '{}' is not supported: only BPE is", what, type_of(model));
    check<BadInput>(at_or_null(model, "vocab").is_object() && !model["vocab"].empty(),
                    "{}: model.vocab must map tokens to ids", what);
    const json& merges = at_or_null(model, "merges");
    check<BadInput>(merges.is_array(), "{}: model.merges must be a list", what);
    check<BadInput>(merges.empty(), "{}: BPE with merges is not supported: only characters are", what);
    return parse_characters(root, model, what);
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& tokenizer_json) {
    return parse_tokenizer(read_file(tokenizer_json), tokenizer_json.string());
}

}  // namespace inkling::data
