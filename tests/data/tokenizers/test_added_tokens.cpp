// Added tokens in a text: the leftmost wins, then the longest, at the same cost for each byte.
#include "data/tokenizers/added_tokens.h"

#include "engine/base/clock.h"
#include "tests/data/tokenizers/bpe_reference.h"

using Cut = std::vector<std::pair<std::string, std::int32_t>>;

static AddedTokens made(const std::vector<std::string>& contents, bool rstrip = false) {
    std::vector<AddedToken> tokens;
    for (const std::string& content : contents)
        tokens.push_back({.content = content, .id = static_cast<std::int32_t>(tokens.size()), .rstrip = rstrip});
    return AddedTokens(std::move(tokens));
}

static Cut cut(const AddedTokens& added, std::string_view text) {
    Cut parts;
    added.cut(text, [&](std::string_view part, std::int32_t id) { parts.emplace_back(part, id); });
    return parts;
}

// Tries every token at every place.
static Cut cut_by_trial(const AddedTokens& added, const std::string& text) {
    Cut parts;
    std::string before;
    for (std::size_t at = 0; at < text.size();) {
        const AddedToken* longest = nullptr;
        for (const AddedToken& token : added.list())
            if (text.compare(at, token.content.size(), token.content) == 0 &&
                (!longest || token.content.size() > longest->content.size()))
                longest = &token;
        if (!longest) {
            before += text[at++];
            continue;
        }
        if (!before.empty()) parts.emplace_back(std::exchange(before, ""), -1);
        parts.emplace_back(longest->content, longest->id);
        at += longest->content.size();
    }
    if (!before.empty()) parts.emplace_back(before, -1);
    return parts;
}

TEST_CASE("added tokens: cut as by trying every token at every place", "[data]") {
    CHECK(cut(made({"ab", "abc", "bcd", "c"}), "xabcdabdc") ==
          Cut{{"x", -1}, {"abc", 1}, {"d", -1}, {"ab", 0}, {"d", -1}, {"c", 3}});
    CHECK(cut(made({}), "abc") == Cut{{"abc", -1}});
    CHECK(cut(made({"a"}), "").empty());
    Random random(7);
    for (int i = 0; i < 300; ++i) {
        const auto some_text = [&](std::size_t most, std::size_t letters) {
            std::string text(1 + below(random, most), 'a');
            for (char& c : text) c = static_cast<char>('a' + below(random, letters));
            return text;
        };
        std::set<std::string> contents;
        for (std::size_t n = 1 + below(random, 16); n > 0; --n) contents.insert(some_text(5, 2 + i % 2));
        const AddedTokens added = made({contents.begin(), contents.end()});
        const std::string text = some_text(60, 3);
        INFO(text);
        CHECK(cut(added, text) == cut_by_trial(added, text));
    }
    std::string text(200'000, 'a');  // longer than what is searched at a time, with tokens across the cuts
    for (std::size_t at = 60'000; at < text.size(); at += 997) text[at] = 'b';
    const AddedTokens added = made({"aab", "ba", std::string(900, 'a') + "b"});
    CHECK(cut(added, text) == cut_by_trial(added, text));
}

TEST_CASE("added tokens: a text takes time in proportion to its length, whatever the tokens", "[data]") {
    if (kSanitized || kEmulated) SKIP_TEST("slow here");
    constexpr std::size_t n = 1 << 20;
    const std::string text(n, 'a');
    const double start = seconds_now();
    std::vector<std::string> nested, longer;
    for (std::size_t k = 1; k <= 900; ++k) nested.push_back(std::string(k, 'a') + "b");
    CHECK(cut(made(nested), text) == Cut{{text, -1}});
    CHECK(cut(made({std::string(999, 'a') + "b"}), text) == Cut{{text, -1}});
    longer = nested;
    longer.push_back("a");  // found at each place, where a longer one is possible
    CHECK(cut(made(longer), text).size() == n);
    std::size_t taken = 0, wrong = 0;
    made({" "}, true).cut(std::string(n, ' '), [&](std::string_view part, std::int32_t) {
        wrong += part.size() != n - taken++;  // each takes all the white space behind it
    });
    CHECK_ALL(taken == n, wrong == 0, seconds_now() - start < 10);
}
