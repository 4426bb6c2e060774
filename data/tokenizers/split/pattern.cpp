#include "data/tokenizers/split/pattern.h"

#include <algorithm>

#include "data/tokenizers/split/split_patterns.h"
#include "data/tokenizers/split/to_pcre2.h"
#include "engine/base/check.h"

namespace inkling::data {

Pattern::Pattern(PatternSpec spec) : spec_(std::move(spec)) {
    check<BadInput>(!spec_.text.empty(), "the pattern can match nothing at all");
    const Regex::Steps steps = is_known_split(spec_.text) ? Regex::Steps::free : Regex::Steps::counted;
    if (!spec_.literal) regex_.emplace(pcre2_pattern(spec_.text), steps);
}

Pattern Pattern::known(const std::string& pcre2) {
    Pattern pattern;
    pattern.spec_ = {pcre2};
    pattern.regex_.emplace(pcre2);
    return pattern;
}

Pattern::Scan::Scan(const Pattern& pattern) : spec_(pattern.spec_) {
    if (pattern.regex_) regex_.emplace(*pattern.regex_);
}

// Allows each part of the pattern to be tried at every byte, plus 64 steps per byte for backtracking.
void Pattern::Scan::allow(std::size_t text_size) {
    constexpr std::size_t max_parts = 1000, per_byte = 64, min_bytes = 16;
    if (regex_) regex_->allow((per_byte + std::min(spec_.text.size(), max_parts)) * (text_size + min_bytes));
}

std::optional<Regex::Match> Pattern::Scan::find(std::string_view text, std::size_t from) {
    if (regex_) return regex_->find(text, from);
    if (spec_.text.size() == 1) {
        const std::size_t at = text.find(spec_.text[0], from);
        if (at == std::string_view::npos) return std::nullopt;
        return Regex::Match{at, at + 1};
    }
    // memmem takes time linear in both lengths, which std::string_view::find does not.
    const void* const found = memmem(text.data() + from, text.size() - from, spec_.text.data(), spec_.text.size());
    if (!found) return std::nullopt;
    const auto begin = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    return Regex::Match{begin, begin + spec_.text.size()};
}

}  // namespace inkling::data
