#include "data/tokenizers/pre_tokenizer.h"

#include <algorithm>

#include "data/tokenizers/split_dialect.h"
#include "data/tokenizers/split_patterns.h"

namespace inkling::data {

PreTokenizer::PreTokenizer(PreTokenizerSpec spec) : spec_(std::move(spec)) {
    for (const auto& split : spec_.splits) {
        const bool known = !split.literal && is_known_split(split.pattern);
        splits_.emplace_back(split.literal ? pcre2_literal(split.pattern) : pcre2_pattern(split.pattern),
                             known ? Regex::Steps::free : Regex::Steps::counted);
    }
    if (spec_.gpt2_pattern) gpt2_.emplace(pcre2_pattern(gpt2_pattern));
}

PreTokenizer::Scan::Scan(const PreTokenizer& pre) : pre_(pre) {
    for (const Regex& split : pre.splits_) splits_.emplace_back(split);
    if (pre.gpt2_) gpt2_.emplace(*pre.gpt2_);
}

// As many as a pattern takes whose every part is tried at every place, and 64 a byte for going back.
void PreTokenizer::Scan::allow_steps(std::size_t text_size) {
    constexpr std::size_t most_parts = 1000, a_byte = 64, least_bytes = 16;
    for (std::size_t i = 0; i < splits_.size(); ++i) {
        const std::size_t parts = std::min(pre_.spec_.splits[i].pattern.size(), most_parts);
        splits_[i].allow((a_byte + parts) * (text_size + least_bytes));
    }
}

std::string_view PreTokenizer::Scan::valid_run(std::string_view text) {
    return text.substr(0, formats::find_invalid_utf8(text));
}

std::string_view PreTokenizer::Scan::with_prefix(std::string_view piece) {
    if (piece.starts_with(' ')) return piece;
    prefixed_.assign(1, ' ').append(piece);
    return prefixed_;
}

}  // namespace inkling::data
