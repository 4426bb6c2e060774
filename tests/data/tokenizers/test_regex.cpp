#include "data/tokenizers/split/regex.h"

static std::string first(const std::string& pattern, std::string_view text, std::size_t from = 0) {
    const auto match = Regex::Scan(Regex(pattern)).find(text, from);
    return match ? std::string(text.substr(match->begin, match->end - match->begin)) : "(none)";
}

TEST_CASE("regex: matches with Unicode's letters, and counting steps changes no match", "[data][bpe]") {
    CHECK(first(R"(\p{L}+)", "12 \xC3\xA9t\xC3\xA9!") == "\xC3\xA9t\xC3\xA9");
    CHECK_ALL(first("[0-9]+", "12 34", 2) == "34", first("[0-9]+", "abc") == "(none)", first("[0-9]+", "") == "(none)");
    CHECK(first("(?i:K)", "\xE2\x84\xAA") == "\xE2\x84\xAA");  // the Kelvin sign
    for (const char* pattern : {"(", "[a", "a{2,1}", "*", "a*", "(?=a)", ""}) CHECK_THROWS_AS(Regex(pattern), BadInput);
    const Regex regex("(?:a|aa)+(?=b)");  // a pattern that never ends on a text is given up
    CHECK_THROWS_WITH(Regex::Scan(regex).find(std::string(5000, 'a'), 0), contains("cannot split this text"));
    const std::string text = "Hello  world, it's 12345 o'clock\n\n\tcaf\xC3\xA9!";
    for (const std::string pattern :
         {R"(\p{N}{1,3})", R"( ?\p{L}+|\s+(?!\S)|\s+|.)", R"((?i:'S|'T)|\p{L}+?|[^\p{L}])"}) {
        const Regex free(pattern), counted(pattern, Regex::Steps::counted);
        Regex::Scan a(free), b(counted);
        b.allow(100'000);
        for (std::size_t at = 0;;) {
            const auto match = a.find(text, at), same = b.find(text, at);
            REQUIRE(match.has_value() == same.has_value());
            if (!match) break;
            REQUIRE((match->begin == same->begin && match->end == same->end));
            at = match->end;
        }
        b.allow(0);
        CHECK_THROWS_AS(b.find(text, 0), BadInput);
    }
}

TEST_CASE("regex: steps are counted over all searches, and a pattern that needs too many ends", "[data][bpe]") {
    std::string words;
    for (int i = 0; i < 1000; ++i) words += "abcdefghijklmnopqrs ";
    for (const auto& [pattern, text] :
         {std::pair<std::string, std::string>{R"((?:\p{L}|\p{L})*\p{N})", words},  // each word in 2^19 ways
          {R"(\p{L}+\p{N}|\p{L})", std::string(200'000, 'a')},                     // all that is left, at each place
          {R"(\p{L}(?=\p{L}*))", std::string(200'000, 'a')},                       // the same, and it matches
          {R"((?:a?){20}a{20}b|a)", std::string(50, 'a')},
          {R"((?:(?:(?:a|aa)+|aaa)+)+b|a)", std::string(300, 'a')}}) {
        INFO(pattern);
        const Regex regex(pattern, Regex::Steps::counted);
        Regex::Scan scan(regex);
        scan.allow(100 * (text.size() + 16));
        const auto split = [&, &text = text] {
            for (std::size_t at = 0; const auto match = scan.find(text, at);) at = match->end;
        };
        CHECK_THROWS_WITH(split(), contains(fmt::format("it takes more than {} steps", 100 * (text.size() + 16))));
    }
}

TEST_CASE("split dialect: what both engines take, and what differs is refused", "[data][bpe]") {
    for (const char* pattern :
         {R"([^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
          R"((?i:'s|'t)|'(?:[sdmt]|ll)|\P{L}|[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]|\x{4E00}+)"})
        CHECK_NOTHROW(Regex(pcre2_pattern(pattern)));
    CHECK(first(pcre2_pattern(R"(\s+)"),
                "a\xE1\xA0\x8E"
                "b\xC2\x85 c") == "\xC2\x85 ");  // not U+180E
    CHECK(first(pcre2_pattern(R"(\S+)"), " \xE1\xA0\x8E ") == "\xE1\xA0\x8E");
    CHECK(first(pcre2_pattern(R"([^\s]+)"), " \xE1\xA0\x8E ") == "\xE1\xA0\x8E");
    CHECK(first(pcre2_pattern(R"(\p{L})"), "\xF0\xB1\xA8\xB7") == "\xF0\xB1\xA8\xB7");  // U+31A37, of Unicode 15
    CHECK(first(pcre2_pattern(R"([\p{Lo}])"), "\xF0\xB1\xA8\xB7") == "\xF0\xB1\xA8\xB7");
    CHECK(first(pcre2_pattern(R"(\s+$)"), "a \t\nb") == " \t");  // the end of a line
    CHECK(first(pcre2_pattern(R"(a$)"), "ab a") == "a");
    CHECK(first(pcre2_pattern(R"(\P{L})"), "\xF0\xB1\xA8\xB7") == "(none)");
    for (const char* pattern :
         {"^a",         "a.",      R"(\bword)",   R"(\w+)", R"(\d)",     R"(\h)",      R"(a{1,3}+)",
          R"(a{1,3}?)", "(?<=a)b", "(?<n>a)",     "(?m:a)", "(?>a)",     "(*UTF)",     "(a)\\1",
          "[a[b]]",     "[a&&b]",  "[[:alpha:]]", "[]a]",   R"([\S])",   R"([\P{L}])", R"(\p{Greek})",
          R"(\p{^L})",  R"(\pL)",  R"(\p{L)",     R"(\p)",  R"(\x41)",   R"(\x{})",    "a{,3}",
          "a{",         "{2}a{b}", "[a",          "\\",     "\\\xC3\xA9"}) {
        INFO(pattern);
        CHECK_THROWS_AS(pcre2_pattern(pattern), BadInput);
    }
}
