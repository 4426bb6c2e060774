#include "data/stories/stories.h"

#include "data/stories/grammar.h"
#include "tests/data/stories/entropy.h"

// FNV-1a, 64 bits.
static std::uint64_t hash(std::string_view text) {
    std::uint64_t h = 0xCBF29CE484222325;
    for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    return h;
}

static std::string replaced(std::string text, const std::string& from, const std::string& to, bool last = false) {
    const std::size_t at = last ? text.rfind(from) : text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

const std::string story =
    "By the mill lived a young bear named Rosa. Rosa loved her blue drum. But one evening the blue drum was gone. \"I "
    "lost my blue drum,\" Rosa told a gentle deer. The gentle deer looked on a tree stump, and there was the drum! "
    "Rosa "
    "thanked the gentle deer. That night Rosa slept very well.";

TEST_CASE("stories: a seed's text parses in only one way, and has the documented sizes and figures",
          "[data][stories]") {
    const std::string text = generate_stories(1337, 10'000);
    CHECK_ALL(hash(text.substr(0, 10'000)) == 0xF6451CE56D6D7782, generate_stories(1337, 20'000).starts_with(text));
    CHECK(generate_stories(1338, 10'000) != text);
    CHECK(text.starts_with(generate_story(1337, 0) + "\n\n" + generate_story(1337, 1) + "\n\n"));
    std::size_t once = 0;
    for (std::uint64_t i = 0; i < 2000; ++i)
        once += parse_story(story_grammar(), generate_story(7, i)).derivations == 1;
    CHECK(once == 2000);
    const std::string long_text = generate_stories(1, 300'000);
    CHECK_ALL(long_text.size() >= 300'000, long_text.size() < 300'500, long_text.ends_with(".\n\n"),
              generate_stories(1, 0).empty());
    CHECK(std::all_of(long_text.begin(), long_text.end(), [](char c) { return c == '\n' || (c >= ' ' && c < 127); }));
    for (const char* none : {"  ", " \n", "\n\n\n"}) CHECK(long_text.find(none) == std::string::npos);
    CHECK(std::set<char>(long_text.begin(), long_text.end()).size() < 64);
    std::set<std::string> stories;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const auto [s, fresh] = stories.insert(generate_story(1, i));
        CHECK_ALL(fresh, s->size() > 100, s->size() < 450, s->find('\n') == std::string::npos);
    }
    const StoryEntropy e = grammar_entropy(story_grammar());
    CHECK(e.nats_per_story == Approx(29.0624).margin(5e-5));
    CHECK(e.nats_per_char == Approx(stories_nats_per_char).epsilon(1e-14));
    CHECK(e.mean_chars == Approx(264.12).margin(5e-3));
}

TEST_CASE("stories: sampled surprise and length agree with the exact entropy", "[data][stories][unsanitized]") {
    constexpr int n = 20'000;
    double nats = 0, nats2 = 0, chars = 0, chars2 = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        const std::string s = generate_story(11, i);
        const double surprise = -std::log(parse_story(story_grammar(), s).probability),
                     size = static_cast<double>(s.size() + 2);
        nats += surprise;
        nats2 += surprise * surprise;
        chars += size;
        chars2 += size * size;
    }
    const StoryEntropy e = grammar_entropy(story_grammar());
    const auto standard_error = [](double sum, double squares) {
        return std::sqrt((squares / n - sum / n * sum / n) / n);
    };
    CHECK(std::abs(nats / n - e.nats_per_story) < 4 * standard_error(nats, nats2));
    CHECK(std::abs(chars / n - e.mean_chars) < 4 * standard_error(chars, chars2));
    CHECK(standard_error(nats, nats2) < 0.002 * e.nats_per_story);
}

TEST_CASE("stories: a consistent one is accepted, an inconsistent one rejected", "[data][stories]") {
    CHECK(is_story(story));
    const std::string& s = story;
    const std::string inconsistent[] = {replaced(s, "loved her", "loved his"),
                                        replaced(s, "the drum!", "the kite!"),
                                        replaced(s, "the blue drum", "the red drum"),
                                        replaced(s, "The gentle deer", "The gentle mole"),
                                        replaced(s, "The gentle deer", "The wise deer"),
                                        replaced(s, "The gentle deer", "The deer"),
                                        replaced(s, "thanked the gentle deer", "thanked the gentle owl"),
                                        replaced(s, "thanked the gentle", "thanked the jolly"),
                                        replaced(s, "Rosa", "Sam", true),
                                        replaced(s, "gone", "gnoe"),
                                        replaced(s, ". ", "."),
                                        replaced(s, "mill", "moon"),
                                        s.substr(0, s.size() - 1),
                                        s.substr(0, 100),
                                        s.substr(1),
                                        s + " ",
                                        s + "\n",
                                        " " + s,
                                        s + " It was the best day of all.",
                                        "",
                                        s + "\n\n" + s};
    for (const std::string& wrong : inconsistent) WITH_INFO(wrong, CHECK_FALSE(is_story(wrong)));
}
