#include "data/tokenizers/split/pre_tokenizer.h"

#include "data/tokenizers/nfc.h"
#include "data/tokenizers/split/split_patterns.h"
#include "tests/data/shakespeare.h"
#include "tests/data/tokenizers/bpe_reference.h"

using Strings = std::vector<std::string>;

static Strings pieces_of(std::string_view text, PreTokenizerSpec spec = {}) {
    Strings pieces;
    const PreTokenizer pre(std::move(spec));
    PreTokenizer::Scan(pre).pieces(text, true, [&](std::string_view piece) { pieces.emplace_back(piece); });
    return pieces;
}

// Splits by patterns, then ByteLevel.
static PreTokenizerSpec splits(std::vector<Pattern> patterns, ByteLevelStep last = {}) {
    PreTokenizerSpec spec{.steps = {}};
    for (Pattern& pattern : patterns) spec.steps.push_back(SplitStep{.pattern = std::move(pattern)});
    spec.steps.push_back(last);
    return spec;
}

// Splits only by the pattern.
static Strings by_pattern(std::string_view text) {
    static const Regex regex(pcre2_pattern(gpt2_pattern));
    Regex::Scan scan(regex);
    Strings pieces;
    for (std::size_t at = 0; at < text.size();) {
        const auto match = scan.find(text, at);
        REQUIRE(match);
        REQUIRE(match->begin == at);
        pieces.emplace_back(text.substr(at, match->end - at));
        at = match->end;
    }
    return pieces;
}

TEST_CASE("pre-tokenizer: GPT-2's pieces, by the fast path on tiny Shakespeare too", "[data][bpe]") {
    CHECK(pieces_of("Hello world's  42!\n\n x") == Strings{"Hello", " world", "'s", " ", " 42", "!", "\n\n", " x"});
    CHECK(pieces_of("'ll've're'd'm't'S'l") == Strings{"'ll", "'ve", "'re", "'d", "'m", "'t", "'", "S", "'", "l"});
    CHECK(pieces_of("!'s a ") == Strings{"!'", "s", " a", " "});
    CHECK(pieces_of("\t\ta\n") == Strings{"\t", "\t", "a", "\n"});
    CHECK(pieces_of("") == Strings{});
    CHECK(pieces_of("a\xC3\xA9 \xC3\xA9") == Strings{"a\xC3\xA9", " \xC3\xA9"});
    const std::string text = testing::shakespeare();  // the fast path is the pattern on tiny Shakespeare
    CHECK(pieces_of(text) == by_pattern(text));
}

TEST_CASE("pre-tokenizer: the fast path is the pattern", "[data][bpe][unsanitized]") {
    testing::Random random(7);
    for (int i = 0; i < 3000; ++i) {
        const std::string text = testing::random_text(random, 1 + testing::below(random, 60));
        REQUIRE(pieces_of(text) == by_pattern(text));
    }
    // every string of 3 of the ASCII characters that matter
    const std::string signs = "ab' \n\t1.!sltrevmd";
    for (const char a : signs)
        for (const char b : signs)
            for (const char c : signs)
                for (const char* end : {"", "\xC3\xA9", "\xE3\x80\x80"}) {
                    const std::string text = std::string{a, b, c} + end;
                    if (pieces_of(text) != by_pattern(text)) FAIL(text);
                }
}

TEST_CASE("pre-tokenizer: known patterns allow cuts between letters and white space", "[data][bpe][unsanitized]") {
    CHECK_ALL(gpt2_safe_cut("ab cd", 0) == 2, gpt2_safe_cut("ab cd", 3) == 5, gpt2_safe_cut("1  2 .\n", 0) == 7);
    CHECK(gpt2_safe_cut("a", 0) == 1);
    const SplitStep digits{.kind = SplitStep::Kind::digits},
        signs{.kind = SplitStep::Kind::punctuation, .behavior = SplitBehavior::contiguous};
    std::vector<PreTokenizerSpec> specs = {{}, {{digits, ByteLevelStep{}}}, {{signs, ByteLevelStep{}, digits}}};
    for (const std::string_view pattern : known_split_patterns)
        if (is_word_split(pattern)) specs.push_back(splits({{std::string(pattern)}}, {.gpt2_pattern = false}));
    testing::Random random(12);
    for (const PreTokenizerSpec& spec : specs) {
        REQUIRE(PreTokenizer(spec).may_be_cut());
        for (int i = 0; i < 300; ++i) {
            const std::string text = testing::random_text(random, 100) + "ab \n c'S 12";
            const std::size_t cut = gpt2_safe_cut(text, testing::below(random, text.size()));
            Strings parts = pieces_of(std::string_view(text).substr(0, cut), spec);
            for (const auto& piece : pieces_of(std::string_view(text).substr(cut), spec)) parts.push_back(piece);
            REQUIRE(parts == pieces_of(text, spec));
        }
    }
    CHECK_FALSE(PreTokenizer(splits({{"a"}})).may_be_cut());
    CHECK_FALSE(PreTokenizer(splits({}, {.add_prefix_space = true})).may_be_cut());
    CHECK_FALSE(PreTokenizer(splits({}, {.gpt2_pattern = false})).may_be_cut());
    CHECK_FALSE(PreTokenizer(splits({{R"(\p{N})"}}, {.gpt2_pattern = false})).may_be_cut());
    CHECK_FALSE(PreTokenizer({{MetaspaceStep{}}}).may_be_cut());
}

TEST_CASE("pre-tokenizer: bytes that are not UTF-8 stand alone, splits, and a space before", "[data][bpe]") {
    CHECK(pieces_of("ab\xFF"
                    "cd \x80\x80 e\xC3") == Strings{"ab", "\xFF", "cd", " ", "\x80", "\x80", " e", "\xC3"});
    CHECK(pieces_of("\xED\xA0\x80"
                    "a") == Strings{"\xED", "\xA0", "\x80", "a"});
    testing::Random random(9);
    for (int i = 0; i < 300; ++i) {
        const std::string bytes = testing::random_bytes(random, 100);
        std::string joined;
        for (const auto& piece : pieces_of(bytes)) joined += piece;
        REQUIRE(joined == bytes);
    }
    // patterns never see them
    const PreTokenizerSpec spec =
        splits({{R"((?i:'s)|[^\r~\n\p{L}\p{N}]?\p{L}+?\p{N}{2,3}|\s+)"}}, {.add_prefix_space = true});
    CHECK(pieces_of("a\xE6\x97\xFF x", spec) == Strings{" a", "\xE6", "\x97", "\xFF", " ", " x"});
    PreTokenizerSpec digits = splits({{R"(\p{N}{1,2})"}}, {.gpt2_pattern = false});
    CHECK(pieces_of("a12345 b", digits) == Strings{"a", "12", "34", "5", " b"});
    std::get<SplitStep>(digits.steps[0]).behavior = SplitBehavior::removed;
    CHECK(pieces_of("a12345 b", digits) == Strings{"a", " b"});
    std::get<SplitStep>(digits.steps[0]).invert = true;
    CHECK(pieces_of("a12345 b", digits) == Strings{"12", "34", "5"});
    digits = splits({{"3", true}, {"b|4"}});
    CHECK(pieces_of("a12345 bc", digits) == Strings{"a", "12", "3", "4", "5", " ", "b", "c"});
    CHECK(pieces_of("ab cd", splits({}, {.add_prefix_space = true})) == Strings{" ab", " cd"});
    CHECK(pieces_of(" ab", splits({}, {.add_prefix_space = true})) == Strings{" ab"});
    CHECK(pieces_of("\nab", splits({}, {.add_prefix_space = true})) == Strings{" ", "\n", "ab"});
    CHECK(pieces_of("a b", splits({}, {.gpt2_pattern = false})) == Strings{"a b"});
    CHECK_THROWS_AS(PreTokenizer(splits({{"("}})), BadInput);
    CHECK_THROWS_AS(PreTokenizer(splits({{R"(\w)"}})), BadInput);
}

TEST_CASE("pre-tokenizer: a pattern from outside has so many steps a byte, in all of a text", "[data][bpe]") {
    const PreTokenizerSpec spec = splits({{R"((?:\p{L}|\p{L})*\p{N})"}});
    std::string words;
    for (int i = 0; i < 1000; ++i) words += "abcdefghijklmnopqrs ";
    CHECK_THROWS_WITH(pieces_of(words, spec), contains("the pattern cannot split this text: it takes more than"));
    CHECK(pieces_of("ab1 c", spec) == Strings{"ab", "1", " c"});
    // the budget belongs to a text, not to a scan: the rest of one text's budget does not go to the next
    const PreTokenizer pre(spec);
    PreTokenizer::Scan scan(pre);
    for (int i = 0; i < 2000; ++i) scan.pieces("abc1 d", true, [](std::string_view) {});
}

TEST_CASE("pre-tokenizer: literals as they stand and long runs of one kind take a moment", "[data][bpe]") {
    CHECK(pieces_of("axb a.b*\\ n-", splits({{"a.b*\\ n", true}}, {.gpt2_pattern = false})) ==
          Strings{"axb ", "a.b*\\ n", "-"});
    const std::string literal = std::string(30'000, 'a') + "b", text = std::string(3'000'000, 'a') + "b";
    const Strings pieces = pieces_of(text, splits({{literal, true}}, {.gpt2_pattern = false}));
    REQUIRE(pieces.size() == 2);
    CHECK(pieces[1] == literal);
    CHECK_THROWS_AS(PreTokenizer(splits({{"", true}})), BadInput);
    for (const char* unit : {"a", " ", "\n", "!", "1", "\xC3\xA9", "\xE3\x80\x80", "\xE2\x82\xAC"}) {
        std::string run;
        while (run.size() < 1'000'000) run += unit;
        CHECK_ALL(pieces_of(run).size() == 1, pieces_of(run + "x").size() <= 3);
    }
}

TEST_CASE("pre-tokenizer: the patterns that are not counted need few steps on any text", "[data][bpe][unsanitized]") {
    std::vector<std::string> texts = {testing::shakespeare()};
    testing::Random random(11);
    for (const char* unit : {"a",           "A",  " ",  "\n",       "\r\n",         "!",        "'",
                             "1",           "Aa", "aA", " a",       " 1",           "!\n",      "\n ",
                             " \n",         "a'", "'s", "\xC3\xA9", "\xE3\x81\x82", "\xCC\x81", "\xE3\x80\x80",
                             "\xE2\x82\xAC"}) {
        std::string run;
        while (run.size() < 20'000) run += unit;
        for (const char* end : {"", "x", "1", " ", "\n", "!"}) texts.push_back(run + end + run + end);
    }
    for (int i = 0; i < 300; ++i) texts.push_back(testing::random_text(random, 300));
    for (const std::string_view pattern : known_split_patterns) {
        const Regex regex(pcre2_pattern(pattern), Regex::Steps::counted);
        Regex::Scan scan(regex);
        for (const std::string& text : texts) {
            scan.allow(24 * (text.size() + 16));  // of the more than 64 that others have
            INFO(pattern << " on " << text.substr(0, 20));
            CHECK_NOTHROW([&] {
                for (std::size_t at = 0; const auto match = scan.find(text, at);) at = match->end;
            }());
        }
        CHECK(is_known_split(pattern));
    }
    CHECK_FALSE(is_known_split("a"));
}

TEST_CASE("normal form C: bytes that are not UTF-8 stay", "[data][bpe]") {
    CHECK(to_nfc("e\u0301\xFF\u0301"
                 "e\xCC") ==
          "\u00E9\xFF\u0301"
          "e\xCC");
    CHECK(to_nfc("\xC3\u0301\xE9\u0301") == "\xC3\u0301\xE9\u0301");
    CHECK(to_lowercase("A\xFF\u00C9\xC3") == "a\xFF\u00E9\xC3");
    Random random(3);
    for (int i = 0; i < 2000; ++i) {
        const std::string bytes = random_bytes(random, 30);
        CHECK(to_nfc(to_nfc(bytes)) == to_nfc(bytes));
    }
}
