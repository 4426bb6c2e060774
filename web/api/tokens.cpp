#include "web/api/tokens.h"

#include "formats/utf8.h"
#include "generate/utf8_stream.h"
#include "web/api/openai_json.h"

namespace inkling::web {

using nlohmann::ordered_json;

ordered_json tokenize(const Fields& request, const data::Tokenizer& tokenizer) {
    const std::optional<std::string> content = request.text("content");
    if (!content) request.refuse("content", "a text is required");
    const bool add_special = request.flag("add_special").value_or(false),
               parse_special = request.flag("parse_special").value_or(true),
               with_pieces = request.flag("with_pieces").value_or(false);
    request.refuse_others();
    std::vector<std::int32_t> ids = parse_special ? tokenizer.encode(*content) : tokenizer.encode_plain(*content);
    if (add_special) {
        const auto before = tokenizer.tokens_before(), after = tokenizer.tokens_after();
        ids.insert(ids.begin(), before.begin(), before.end());
        ids.insert(ids.end(), after.begin(), after.end());
    }
    if (!with_pieces) return {{"tokens", ids}};
    ordered_json tokens = ordered_json::array();
    for (const std::int32_t id : ids) {
        const std::string piece = tokenizer.decode_more(std::span(&id, 1));
        const bool whole = formats::find_invalid_utf8(piece) == std::string::npos;
        tokens.push_back({{"id", id}, {"piece", whole ? ordered_json(piece) : byte_list(piece)}});
    }
    return {{"tokens", tokens}};
}

ordered_json detokenize(const Fields& request, const data::Tokenizer& tokenizer) {
    const nlohmann::json* const list = request.find("tokens");
    if (!list || !list->is_array()) request.refuse("tokens", "a list of token ids is required");
    const std::vector<std::int32_t> ids = read_ids(request, "tokens", *list);
    request.refuse_others();
    for (const std::int32_t id : ids)
        if (static_cast<std::size_t>(id) >= tokenizer.vocab_size())
            request.refuse("tokens", fmt::format("expected ids below {}, got {}", tokenizer.vocab_size(), id));
    return {{"content", generate::to_valid_utf8(tokenizer.decode(ids))}};
}

}  // namespace inkling::web
