// A fuzz target for tokenizer.json: any bytes are read or refused with BadInput. A tokenizer that is read decodes to
// the encoded text, and gives the same ids after writing and reading. See run.sh.
#include "data/tokenizers/json/tokenizer_json.h"
#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "engine/base/check.h"
#include "tests/fuzz/target.h"

FUZZ_TARGET(tokenizer_json) {
    const std::string_view file(reinterpret_cast<const char*>(bytes), size);
    try {
        const auto tokenizer = data::parse_tokenizer(file, "fuzz");
        const auto again = data::parse_tokenizer(tokenizer->to_json(), "fuzz");
        if (tokenizer->kind() != data::TokenizerKind::byte_pairs) return 0;
        const auto& spec = dynamic_cast<const data::BpeTokenizer&>(*tokenizer).spec();
        for (const std::string_view text :
             {std::string_view("ab <|endoftext|> ab\n\n  it's \xE6\x97\xA5\xFF x123"), file.substr(0, 2000)}) {
            std::vector<std::int32_t> ids;
            try {
                ids = tokenizer->encode(text);
            } catch (const BadInput&) {
                continue;
            }
            if (again->encode(text) != ids) std::abort();
            const auto* const byte_level = spec.pre_tokenizer.byte_level();
            bool changes_text = !spec.byte_letters || !spec.normalizer.empty() || byte_level->add_prefix_space;
            for (const auto& step : spec.pre_tokenizer.steps) {
                const auto* const split = std::get_if<data::SplitStep>(&step);
                changes_text = changes_text || (split && split->behavior == data::SplitBehavior::removed);
            }
            for (const auto& token : spec.added) changes_text = changes_text || token.lstrip || token.rstrip;
            if (!changes_text && tokenizer->decode(ids) != text) std::abort();
        }
    } catch (const BadInput&) {
    }
    return 0;
}
