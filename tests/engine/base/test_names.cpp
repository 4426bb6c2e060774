// Texts that are cut for messages end where a character ends; suggestions for misspelt words.
#include "engine/base/names.h"

TEST_CASE("names: a text is cut where a character ends", "[engine]") {
    struct Case {
        const char *text, *beginning;
        std::size_t bytes;
    };
    for (const Case& c : {Case{"abc", "abc", 3},
                          {"abc", "ab", 2},
                          {"abc", "", 0},
                          {"", "", 5},
                          {"a\u00e9", "a", 2},            // two bytes
                          {"\u20ac\u20ac", "\u20ac", 4},  // three
                          {"\u20ac\u20ac", "\u20ac", 5},
                          {"a\U0001F600", "a", 2},  // four
                          {"a\U0001F600", "a", 4},
                          {"a\U0001F600", "a\U0001F600", 5},
                          {"\U0001F600", "", 3},
                          {"\x80\x80\x80\x80\x80\x80", "\x80\x80\x80\x80\x80", 5}}) {  // not UTF-8: still shortened
        INFO(c.text << ' ' << c.bytes);
        CHECK(cut_text(c.text, c.bytes) == c.beginning);
        CHECK(shortened(c.text, c.bytes) ==
              std::string(c.beginning) + (std::string(c.text) == c.beginning ? "" : "..."));
    }
    CHECK_ALL(shown_name(std::string(79, 'x') + "\u00e9") == std::string(79, 'x') + "...", shown_name("a\nb") == "a?b");
}

TEST_CASE("names: a misspelt word means the known one with the fewest changes, else a part of it", "[engine]") {
    const std::vector<std::string> flags = {"--n-layer", "--n-head", "--max-iters", "--lr-decay-iters",
                                            "--learning-rate"};
    const auto check_meant = [](const char* word, const std::string& meant, const std::vector<std::string>& known) {
        INFO(word);
        CHECK(did_you_mean(word, known) == (meant.empty() ? "" : ", did you mean " + meant));
    };
    for (const char* word : {"--n-layers", "-n-layer", "--N-Layer"}) check_meant(word, "--n-layer", flags);
    for (const char* word : {"--lerning-rate", "--learning", "--lr"}) check_meant(word, "--learning-rate", flags);
    check_meant("--iters", "--max-iters", flags);
    for (const char* word : {"--wrong", "-x", ""}) check_meant(word, "", flags);
    // one letter added, left out, replaced, or swapped with its neighbour
    for (const char* word : {"train", "trains", "rain", "trbin", "trian"})
        check_meant(word, "train", {"eval", "train"});
    check_meant("kitten", "", {"sitting"});  // three changes in six letters
    check_meant("train", "", {});
}
