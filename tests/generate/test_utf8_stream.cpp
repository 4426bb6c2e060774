#include "generate/utf8_stream.h"

#include "generate/stop_texts.h"
#include "tests/data/tokenizers/bpe_reference.h"

TEST_CASE("UTF-8 stream: never half a character, and the same however the bytes come", "[generate]") {
    Utf8Stream stream;
    CHECK_ALL(stream.push("a\xE2") == "a", stream.push("\x82") == "", stream.push("\xAC!") == "\xE2\x82\xAC!");
    CHECK_ALL(stream.finish() == "", stream.push("\xF0\x9F\x98") == "", stream.finish() == "\xEF\xBF\xBD");
    CHECK_ALL(stream.finish() == "", stream.push("b") == "b");
    const std::string r = "\xEF\xBF\xBD";  // one for each part that invalid_utf8_size() tells
    CHECK(to_valid_utf8("\x80\xC0\x80") == r + r + r);
    CHECK(to_valid_utf8("\xF0\x9F\x98\xE2\x82\xAC") == r + "\xE2\x82\xAC");
    Random random(1);
    for (int i = 0; i < 2000; ++i) {
        std::string bytes = random_bytes(random, 6) + random_text(random, 5) + random_bytes(random, 3);
        if (i % 3 == 0) bytes.erase(below(random, bytes.size()), 1);
        Utf8Stream pieces;
        std::string text;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t n = std::min(1 + below(random, 3), bytes.size() - at);
            text += pieces.push(bytes.substr(at, n));
            REQUIRE(find_invalid_utf8(text) == std::string::npos);
            at += n;
        }
        text += pieces.finish();
        REQUIRE(text == to_valid_utf8(bytes));
    }
}

// The shown part of `text`, which arrives in pieces of n bytes.
static std::string shown(const std::vector<std::string>& stops, const std::string& text, std::size_t n) {
    StopTexts stop(stops);
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += n) out += stop.push(text.substr(i, n));
    return out + stop.finish();
}

TEST_CASE("stop texts: a text ends before the first that is complete, and only beginnings wait", "[generate]") {
    for (std::size_t n = 1; n < 12; ++n) {
        INFO("pieces of " << n);
        CHECK(shown({}, "all of it", n) == "all of it");
        CHECK(shown({"END"}, "the ENd and the END. more", n) == "the ENd and the ");
        CHECK_ALL(shown({"END"}, "the EN", n) == "the EN", shown({"aab"}, "aaaab", n) == "aa");
        CHECK(shown({"abc", "b"}, "xabc", n) == "xa");  // "b" is complete before "abc"
        CHECK(shown({"c", "abc"}, "xabc", n) == "x");   // both at once: the longer
        CHECK_ALL(shown({"\n\n"}, "one\ntwo\n\nthree", n) == "one\ntwo", shown({"x"}, "x", n).empty());
        CHECK(shown({"\xE2\x82\xAC"}, "5 \xE2\x82\xAC or more", n) == "5 ");
    }
    StopTexts stop({"END", "\n\n"});
    CHECK_ALL(stop.push("a") == "a", stop.push("E").empty(), stop.push("NO") == "ENO", stop.push("b\n") == "b");
    CHECK_ALL(stop.push("c") == "\nc", !stop.found(), stop.push("d\n\nmore") == "d", stop.found());
    CHECK_ALL(stop.push("END").empty(), stop.finish().empty());
    CHECK_THROWS_AS(StopTexts({""}), Error);
}
