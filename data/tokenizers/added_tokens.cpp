#include "data/tokenizers/added_tokens.h"

#include <algorithm>

#include "data/tokenizers/split/white_space.h"
#include "engine/base/check.h"

namespace inkling::data {

namespace {

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

// Narrows the sorted list byte by byte to the tokens that begin like the text. A token that has no more bytes is the
// first of the tokens left.
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

void AddedTokens::Set::cut(std::string_view text, bool special, const TakePart& take) const {
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
        if (token->special && !special) continue;
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

void AddedTokens::cut_raw(std::string_view text, bool special, const TakePart& take) const {
    sets_[0].cut(text, special, take);
}

void AddedTokens::cut_normalized(std::string_view text, bool special, const TakePart& take) const {
    sets_[1].cut(text, special, take);
}

void AddedTokens::cut(std::string_view text, const TakePart& take) const {
    cut_raw(text, true, [&](const Part& part) { part.id < 0 ? cut_normalized(part.text, true, take) : take(part); });
}

}  // namespace inkling::data
