#include "data/tokenizers/added_tokens.h"

#include <algorithm>
#include <span>

#include "data/tokenizers/split/regex.h"
#include "data/tokenizers/split/split_patterns.h"
#include "engine/base/check.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

// A byte that is not UTF-8 is not part of a word.
bool is_word(std::string_view character) {
    static const Regex word(pcre2_pattern(word_class));
    return formats::find_invalid_utf8(character) == std::string_view::npos && Regex::Scan(word).find(character, 0);
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
    std::size_t before = begin, after = end;
    if (begin > 0) formats::previous_code_point(text, before);
    if (end < text.size()) formats::next_code_point(text, after);
    return !is_word(text.substr(before, begin - before)) && !is_word(text.substr(end, after - end));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
    std::vector<const AddedToken*> raw, normalized;
    for (const AddedToken& token : tokens_) {
        check<BadInput>(!token.content.empty() && token.content.size() <= longest_content,
                        "an added token has between 1 and {} bytes, got {}", longest_content, token.content.size());
        (token.normalized ? normalized : raw).push_back(&token);
    }
    raw_.build(raw);
    normalized_.build(normalized);
}

void AddedTokens::Set::build(const std::vector<const AddedToken*>& tokens) {
    constexpr std::size_t kMaxHeads = 8;
    if (tokens.empty()) return;
    states.resize(1);
    std::vector<std::pair<std::uint32_t, char>> made_by = {{0, 0}};  // the state before, and the byte
    for (const AddedToken* const token : tokens) {
        const std::string head = token->content.substr(0, 2);
        if (heads.size() <= kMaxHeads && std::ranges::find(heads, head) == heads.end()) heads.push_back(head);
        std::uint32_t at = 0;
        for (auto byte = token->content.rbegin(); byte != token->content.rend(); ++byte) {
            const auto [found, made] = next.try_emplace(std::uint64_t{at} << 8 | static_cast<unsigned char>(*byte),
                                                        static_cast<std::uint32_t>(states.size()));
            if (made) states.emplace_back(), made_by.emplace_back(at, *byte);
            if (made && at == 0) first[static_cast<unsigned char>(*byte)] = found->second;
            at = found->second;
        }
        check<BadInput>(!states[at].longest, "an added token appears twice");
        states[at].longest = token;
    }
    if (heads.size() > kMaxHeads) heads.clear();
    std::vector<std::uint32_t> by_length = {0};
    std::vector<std::vector<std::uint32_t>> longer(states.size());
    for (std::uint32_t s = 1; s < states.size(); ++s) longer[made_by[s].first].push_back(s);
    for (std::size_t i = 0; i < by_length.size(); ++i)
        by_length.insert(by_length.end(), longer[by_length[i]].begin(), longer[by_length[i]].end());
    for (const std::uint32_t s : std::span(by_length).subspan(1)) {
        const auto [before, byte] = made_by[s];
        if (before != 0) states[s].shorter = step(states[before].shorter, byte);
        if (!states[s].longest) states[s].longest = states[states[s].shorter].longest;
    }
}

std::uint32_t AddedTokens::Set::step(std::uint32_t state, char byte) const {
    for (; state != 0; state = states[state].shorter) {
        const auto found = next.find(std::uint64_t{state} << 8 | static_cast<unsigned char>(byte));
        if (found != next.end()) return found->second;
    }
    return first[static_cast<unsigned char>(byte)];
}

// Finds the tokens of a part of the text, from its end, and then takes them from its beginning. Where no head is, which
// memchr tells, there is no token.
void AddedTokens::Set::cut(std::string_view text, bool special, const TakePart& take) const {
    constexpr std::size_t kPart = 1 << 14;
    struct Found {
        std::size_t at;
        const AddedToken* token;
    };
    std::vector<Found> found;
    std::vector<std::size_t> next_head(heads.size(), 0);
    std::size_t done = 0, searched = 0, spaces_begin = 0, spaces_end = 0;
    for (std::size_t at = 0; at < text.size() && !states.empty();) {
        if (at >= searched) {
            for (std::size_t i = 0; i < heads.size(); ++i)
                if (next_head[i] <= at) next_head[i] = std::min(text.find(heads[i], at), text.size());
            if (!heads.empty()) at = std::ranges::min(next_head);
            found.clear();
            searched = std::min(text.size(), at + kPart);
            std::uint32_t state = 0;
            for (std::size_t i = std::min(text.size(), searched + longest_content); i-- > at;) {
                state = step(state, text[i]);
                if (i < searched && states[state].longest) found.push_back({i, states[state].longest});
            }
        }
        while (!found.empty() && found.back().at < at) found.pop_back();
        if (found.empty()) {
            at = searched;
            continue;
        }
        const AddedToken* const token = found.back().token;
        std::size_t begin = at = found.back().at, end = at + token->content.size();
        at = end;
        if (token->special && !special) continue;
        if (token->single_word && !stands_alone(text, begin, end)) continue;
        if (token->lstrip) {
            for (std::size_t before = begin;
                 begin > done && formats::is_white_space(formats::previous_code_point(text, before)) && before >= done;)
                begin = before;
        }
        if (token->rstrip) {
            if (end < spaces_begin || end >= spaces_end) {  // else it is known where these spaces end
                spaces_begin = spaces_end = end;
                for (std::size_t after = end;
                     spaces_end < text.size() && formats::is_white_space(formats::next_code_point(text, after));)
                    spaces_end = after;
            }
            end = spaces_end;
        }
        if (begin > done) take(text.substr(done, begin - done), -1);
        take(text.substr(begin, end - begin), token->id);
        done = end;
    }
    if (done < text.size()) take(text.substr(done), -1);
}

void AddedTokens::cut(std::string_view text, const TakePart& take) const {
    cut_raw(text, true, [&](std::string_view part, std::int32_t id) {
        id < 0 ? cut_normalized(part, true, take) : take(part, id);
    });
}

}  // namespace inkling::data
