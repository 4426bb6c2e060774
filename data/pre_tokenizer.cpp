#include "data/pre_tokenizer.h"

#include <fmt/format.h>

#include "data/split_dialect.h"

namespace inkling::data {

PreTokenizer::PreTokenizer(PreTokenizerSpec spec) : spec_(std::move(spec)) {
    for (const auto& split : spec_.splits)
        splits_.emplace_back(split.literal ? pcre2_literal(split.pattern) : pcre2_pattern(split.pattern));
    if (spec_.gpt2_pattern) gpt2_.emplace(pcre2_pattern(gpt2_pattern));
}

PreTokenizer::Scan::Scan(const PreTokenizer& pre) : pre_(pre) {
    for (const Regex& split : pre.splits_) splits_.emplace_back(split);
    if (pre.gpt2_) gpt2_.emplace(*pre.gpt2_);
}

std::string_view PreTokenizer::Scan::valid_run(std::string_view text) {
    return text.substr(0, find_invalid_utf8(text));
}

void PreTokenizer::Scan::split(std::string_view text, std::size_t stage, std::vector<std::string_view>& pieces) {
    if (stage == splits_.size()) {
        pieces.push_back(text);
        return;
    }
    const bool keep_between = !pre_.spec_.splits[stage].matches_only;
    std::size_t at = 0;
    while (at < text.size()) {
        const auto match = splits_[stage].find(text, at);
        const std::size_t begin = match ? match->begin : text.size();
        if (begin > at && keep_between) split(text.substr(at, begin - at), stage + 1, pieces);
        if (!match) break;
        split(text.substr(begin, match->end - begin), stage + 1, pieces);
        at = match->end;
    }
}

std::string_view PreTokenizer::Scan::with_prefix(std::string_view piece) {
    if (piece.starts_with(' ')) return piece;
    return kept_.emplace_back(fmt::format(" {}", piece));
}

}  // namespace inkling::data
