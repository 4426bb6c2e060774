// The walks over a grammar, on grammars small enough to work out by hand.
#include "data/stories/grammar.h"

#include "tests/data/stories/entropy.h"

static const std::vector<VariableText> nobody;
const std::vector<VariableText> people = {{{"name", "he"}, {{"Al", "he"}, {"Beatrix", "she"}}},
                                          {{"pet"}, {{"cat"}, {"dog"}, {"emu"}}}};

TEST_CASE("story grammar: alternatives weigh as they say, and stories are drawn so", "[data][stories]") {
    const auto g = compile_grammar({{"story", {{3, "a"}, {1, "bc"}}}}, nobody);
    CHECK_ALL(parse_story(g, "a").probability == 0.75, parse_story(g, "bc").probability == 0.25);
    for (const char* other : {"", "b", "ab", "abc", "bcd"}) CHECK(parse_story(g, other).derivations == 0);
    const testing::StoryEntropy e = testing::grammar_entropy(g);
    CHECK(e.nats_per_story == Approx(0.75 * std::log(4.0 / 3) + 0.25 * std::log(4.0)));
    CHECK(e.mean_chars == Approx(0.75 * 1 + 0.25 * 2 + 2));
    CHECK(e.nats_per_char == Approx(e.nats_per_story / e.mean_chars));
    const auto pets = compile_grammar({{"story", {{3, "a{pet}"}, {1, "b"}}}}, people);
    int b = 0, dog = 0;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        const std::string story = write_story(pets, {9, i});
        b += story == "b";
        dog += story == "adog";
    }
    CHECK_ALL(std::abs(b - 2500) < 220, std::abs(dog - 2500) < 220);
}

TEST_CASE("story grammar: variables keep values, probabilities add up, mistakes are refused", "[data][stories]") {
    const auto g = compile_grammar({{"story", {{1, "{name}: {He}, {name}."}}}}, people);
    CHECK(parse_story(g, "Al: He, Al.").probability == 0.5);
    CHECK(parse_story(g, "Beatrix: She, Beatrix.").probability == 0.5);
    for (const char* wrong : {"Al: She, Al.", "Al: He, Beatrix.", "Al: he, Al."})
        CHECK(parse_story(g, wrong).derivations == 0);
    CHECK(testing::grammar_entropy(g).nats_per_story == Approx(std::log(2.0)));
    CHECK(testing::grammar_entropy(g).mean_chars == Approx((11 + 22) / 2.0 + 2));
    // One story of four mentions {pet} early; all mention it at the end.
    const auto mentioned =
        compile_grammar({{"story", {{1, "<start>{pet}"}}}, {"start", {{3, ""}, {1, "{pet} {name} "}}}}, people);
    CHECK(parse_story(mentioned, "dog").probability == Approx(0.75 / 3));
    CHECK(parse_story(mentioned, "dog Al dog").probability == Approx(0.25 / 3 / 2));
    CHECK(parse_story(mentioned, "dog Al cat").derivations == 0);
    const double start = 0.75 * std::log(4.0 / 3) + 0.25 * std::log(4.0);
    CHECK(testing::grammar_entropy(mentioned).nats_per_story == Approx(start + std::log(3.0) + 0.25 * std::log(2.0)));
    CHECK(testing::grammar_entropy(mentioned).mean_chars == Approx(3 + 0.25 * (3 + 1 + 4.5 + 1) + 2));
    const auto pets = compile_grammar(
        {{"story", {{2, "<who> has a {pet}"}, {1, "no {pet}"}}}, {"who", {{1, "{name}"}, {4, "{He}"}}}}, people);
    double sum = 0, nats = 0, chars = 0;
    for (const std::string pet : {"cat", "dog", "emu"})
        for (const std::string who : {"Al has a ", "Beatrix has a ", "He has a ", "She has a ", "no "}) {
            const double p = parse_story(pets, who + pet).probability;
            sum += p;
            nats -= p * std::log(p);
            chars += p * static_cast<double>((who + pet).size() + 2);
        }
    CHECK_ALL(sum == Approx(1), testing::grammar_entropy(pets).nats_per_story == Approx(nats));
    CHECK(testing::grammar_entropy(pets).mean_chars == Approx(chars));
    const auto twice = compile_grammar({{"story", {{1, "<x><x>"}}}, {"x", {{1, "a"}, {1, "aa"}}}}, nobody);
    CHECK(parse_story(twice, "aaa").derivations == 2);  // two ways to write a story are counted
    CHECK_ALL(parse_story(twice, "aaa").probability == 0.5, parse_story(twice, "aaaa").derivations == 1);
    CHECK_THROWS_WITH(compile_grammar({{"story", {{1, "<nothing>"}}}}, nobody),
                      contains("there is no rule or field 'nothing'"));
    CHECK_THROWS_WITH(compile_grammar({{"story", {{1, "{hero}"}}}}, nobody), contains("'hero'"));
    CHECK_THROWS_WITH(compile_grammar({{"story", {{1, "a {pet"}}}}, people), contains("not closed"));
    CHECK_THROWS_AS(compile_grammar({{"story", {{1, "a"}}}, {"story", {{1, "b"}}}}, nobody), Error);
    CHECK_THROWS_AS(compile_grammar({{"story", {{1, "a"}}}}, {{{"a", "b"}, {{"only one"}}}}), Error);
}
