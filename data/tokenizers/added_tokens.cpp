#include "data/tokenizers/added_tokens.h"

#include <algorithm>

#include "data/tokenizers/regex.h"
#include "data/tokenizers/split_dialect.h"
#include "engine/check.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

// The beginning of the character that ends before `end`; a byte that is not UTF-8 counts as one.
std::size_t previous_character(std::string_view text, std::size_t end) {
    for (std::size_t begin = end - 1; begin + 4 >= end; --begin) {
        std::size_t at = begin;
        if (formats::next_code_point(text.substr(0, end), at) != formats::invalid_code_point && at == end) return begin;
        if (begin == 0) break;
    }
    return end - 1;
}

bool matches_whole(const Regex& one_character, std::string_view text) {
    return formats::find_invalid_utf8(text) == std::string_view::npos &&
           Regex::Scan(one_character).find(text, 0).has_value();
}

// \w as Unicode (UTS 18) defines it: alphabetic, mark, decimal number, connector, joiner. The ranges are the symbols
// that are alphabetic.
bool is_word(std::string_view character) {
    static const Regex word(pcre2_pattern(R"([\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9}])"
                                          R"(|[\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}])"));
    return matches_whole(word, character);
}

bool is_space(std::string_view character) {
    static const Regex space(pcre2_pattern(R"(\s)"));
    return matches_whole(space, character);
}

std::string_view first_character(std::string_view text, std::size_t at) {
    std::size_t end = at;
    if (formats::next_code_point(text, end) == formats::invalid_code_point) end = at + 1;
    return text.substr(at, end - at);
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
    if (begin > 0) {
        const std::size_t before = previous_character(text, begin);
        if (is_word(text.substr(before, begin - before))) return false;
    }
    return end == text.size() || !is_word(first_character(text, end));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
    for (const AddedToken& token : tokens_) {
        check<BadInput>(!token.content.empty() && token.content.size() <= longest_content,
                        "an added token has between 1 and {} bytes, got {}", longest_content, token.content.size());
        Set& set = sets_[token.normalized ? 1 : 0];
        set.sorted.push_back(&token);
        set.begins[static_cast<unsigned char>(token.content[0])] = true;
    }
    for (Set& set : sets_) {
        std::sort(set.sorted.begin(), set.sorted.end(), [](auto* a, auto* b) { return a->content < b->content; });
        const auto same = std::adjacent_find(set.sorted.begin(), set.sorted.end(),
                                             [](auto* a, auto* b) { return a->content == b->content; });
        check<BadInput>(same == set.sorted.end(), "an added token appears twice");
    }
}

// Narrows the sorted list byte by byte to the tokens that the text goes on like; a token that is used up is the first
// of those left.
const AddedToken* AddedTokens::Set::longest_at(std::string_view text) const {
    const AddedToken* longest = nullptr;
    auto low = sorted.begin(), high = sorted.end();
    for (std::size_t i = 0; i < text.size() && low != high; ++i) {
        const auto byte_at = [i](const AddedToken* token) { return static_cast<unsigned char>(token->content[i]); };
        const auto byte = static_cast<unsigned char>(text[i]);
        low = std::partition_point(low, high, [&](auto* token) { return byte_at(token) < byte; });
        high = std::partition_point(low, high, [&](auto* token) { return byte_at(token) == byte; });
        if (low != high && (*low)->content.size() == i + 1) longest = *low++;
    }
    return longest;
}

void AddedTokens::Set::cut(std::string_view text, const TakePart& take) const {
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size() && !sorted.empty();) {
        const AddedToken* const token =
            begins[static_cast<unsigned char>(text[at])] ? longest_at(text.substr(at)) : nullptr;
        if (!token) {
            ++at;
            continue;
        }
        std::size_t begin = at, end = at + token->content.size();
        at = end;
        if (token->single_word && !stands_alone(text, begin, end)) continue;
        if (token->lstrip) {
            while (begin > done) {
                const std::size_t before = previous_character(text, begin);
                if (before < done || !is_space(text.substr(before, begin - before))) break;
                begin = before;
            }
        }
        if (token->rstrip) {
            while (end < text.size() && is_space(first_character(text, end))) end += first_character(text, end).size();
        }
        if (begin > done) take({text.substr(done, begin - done), -1});
        take({text.substr(begin, end - begin), token->id});
        done = end;
    }
    if (done < text.size()) take({text.substr(done), -1});
}

void AddedTokens::cut(std::string_view text, const TakePart& take) const {
    sets_[0].cut(text, [&](const Part& part) { part.id < 0 ? sets_[1].cut(part.text, take) : take(part); });
}

}  // namespace inkling::data
