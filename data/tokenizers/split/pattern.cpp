#include "data/tokenizers/split/pattern.h"

#include <algorithm>

#include "data/tokenizers/split/split_patterns.h"
#include "engine/base/check.h"

namespace inkling::data {

Pattern::Pattern(std::string text, bool literal, Regex::Steps steps) : text_(std::move(text)) {
    check<BadInput>(!text_.empty(), "the pattern can match nothing at all");
    if (is_known_split(text_)) steps = Regex::Steps::free;
    if (!literal) regex_.emplace(pcre2_pattern(text_), steps);
}

Pattern::Scan::Scan(const Pattern& pattern) : text_(pattern.text_) {
    if (pattern.regex_) regex_.emplace(*pattern.regex_);
}

// Allows each part of the pattern to be tried at every byte, plus 64 steps per byte for backtracking.
void Pattern::Scan::allow(std::size_t text_size) {
    constexpr std::size_t max_parts = 1000, per_byte = 64, min_bytes = 16;
    if (regex_) regex_->allow((per_byte + std::min(text_.size(), max_parts)) * (text_size + min_bytes));
}

std::optional<Regex::Match> Pattern::Scan::find(std::string_view text, std::size_t from) {
    if (regex_) return regex_->find(text, from);
    // memmem takes time linear in both lengths, which std::string_view::find does not.
    const void* const found = memmem(text.data() + from, text.size() - from, text_.data(), text_.size());
    if (!found) return std::nullopt;
    const auto begin = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    return Regex::Match{begin, begin + text_.size()};
}

}  // namespace inkling::data
