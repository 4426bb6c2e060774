#include "data/tokenizers/pre_tokenizer.h"

#include <algorithm>
#include <cstring>

#include "data/tokenizers/split_dialect.h"
#include "data/tokenizers/split_patterns.h"
#include "engine/check.h"

namespace inkling::data {

PreTokenizer::PreTokenizer(PreTokenizerSpec spec) : spec_(std::move(spec)) {
    for (const auto& split : spec_.splits) {
        check<BadInput>(!split.pattern.empty(), "the pattern can match nothing at all");
        const Regex::Steps steps = is_known_split(split.pattern) ? Regex::Steps::free : Regex::Steps::counted;
        auto& regex = splits_.emplace_back();
        if (!split.literal) regex.emplace(pcre2_pattern(split.pattern), steps);
    }
    if (spec_.gpt2_pattern) gpt2_.emplace(pcre2_pattern(gpt2_pattern));
}

PreTokenizer::Scan::Scan(const PreTokenizer& pre) : pre_(pre), splits_(pre.splits_.size()) {
    for (std::size_t i = 0; i < splits_.size(); ++i) {
        if (pre.splits_[i]) splits_[i].emplace(*pre.splits_[i]);
    }
    if (pre.gpt2_) gpt2_.emplace(*pre.gpt2_);
}

// Enough for a pattern of which every part is tried at every byte, and 64 steps per byte for backtracking.
void PreTokenizer::Scan::allow_steps(std::size_t text_size) {
    constexpr std::size_t max_parts = 1000, per_byte = 64, min_bytes = 16;
    for (std::size_t i = 0; i < splits_.size(); ++i) {
        const std::size_t parts = std::min(pre_.spec_.splits[i].pattern.size(), max_parts);
        if (splits_[i]) splits_[i]->allow((per_byte + parts) * (text_size + min_bytes));
    }
}

std::optional<Regex::Match> PreTokenizer::Scan::find(std::size_t stage, std::string_view text, std::size_t from) {
    if (splits_[stage]) return splits_[stage]->find(text, from);
    const std::string& literal = pre_.spec_.splits[stage].pattern;
    // memmem takes time linear in both lengths, which std::string_view::find does not.
    const void* const found = memmem(text.data() + from, text.size() - from, literal.data(), literal.size());
    if (!found) return std::nullopt;
    const auto begin = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    return Regex::Match{begin, begin + literal.size()};
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
