#include "generate/prompt.h"

#include <span>

namespace inkling::generate {

Prompt encode_prompt(const data::Tokenizer& tokenizer, std::size_t context, std::string_view text, bool begins,
                     bool special) {
    Prompt prompt;
    std::vector<bool> seen(tokenizer.vocab_size());
    std::vector<std::int32_t> before;
    const auto keep = [&](std::size_t last) {
        const auto end = prompt.ids.end() - static_cast<std::ptrdiff_t>(last);
        for (auto id = prompt.ids.begin(); id != end; ++id) {
            if (!seen[static_cast<std::size_t>(*id)]) before.push_back(*id);
            seen[static_cast<std::size_t>(*id)] = true;
        }
        prompt.ids.erase(prompt.ids.begin(), end);
    };
    const auto add = [&](std::span<const std::int32_t> ids, std::size_t) {
        prompt.ids.insert(prompt.ids.end(), ids.begin(), ids.end());
        prompt.tokens += ids.size();
        if (prompt.ids.size() > 2 * context) keep(context);
    };
    if (begins) add(tokenizer.tokens_before(), 0);
    special ? tokenizer.encode_parts(text, add) : tokenizer.encode_plain_parts(text, add);
    if (prompt.ids.size() > context) keep(context);
    prompt.ids.insert(prompt.ids.begin(), before.begin(), before.end());
    return prompt;
}

std::vector<std::int32_t> beginning(const data::Tokenizer& tokenizer, const models::Architecture& config) {
    if (auto special_tokens = tokenizer.tokens_before(); !special_tokens.empty()) return special_tokens;
    if (config.has_bos && config.begin_token >= 0) return {config.begin_token};
    if (const auto end = tokenizer.end_of_text(); end && config.has_bos) return {*end};
    if (!tokenizer.knows("\n")) return {0};
    try {
        return tokenizer.encode("\n");
    } catch (const BadInput&) {
        return {0};
    }
}

}  // namespace inkling::generate
