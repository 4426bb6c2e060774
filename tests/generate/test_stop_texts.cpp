// Text ends before a stop text, however it is cut into pieces.
#include "generate/stop_texts.h"

#include "engine/base/check.h"
#include "tests/catch.h"

using inkling::generate::StopTexts;

namespace {

// The shown part of `text`, which arrives in pieces of n bytes.
std::string shown(const std::vector<std::string>& stops, const std::string& text, std::size_t n) {
    StopTexts stop(stops);
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += n) out += stop.push(text.substr(i, n));
    return out + stop.finish();
}

}  // namespace

TEST_CASE("stop texts: the text ends before the first that is complete, however it is cut", "[generate]") {
    for (std::size_t n = 1; n < 12; ++n) {
        INFO("pieces of " << n);
        CHECK(shown({}, "all of it", n) == "all of it");
        CHECK(shown({"END"}, "the ENd and the END. more", n) == "the ENd and the ");
        CHECK(shown({"END"}, "the EN", n) == "the EN");
        CHECK(shown({"aab"}, "aaaab", n) == "aa");
        CHECK(shown({"abc", "b"}, "xabc", n) == "xa");  // "b" is complete before "abc"
        CHECK(shown({"c", "abc"}, "xabc", n) == "x");   // both at once: the longer
        CHECK(shown({"\n\n"}, "one\ntwo\n\nthree", n) == "one\ntwo");
        CHECK(shown({"x"}, "x", n).empty());
        CHECK(shown({"\xE2\x82\xAC"}, "5 \xE2\x82\xAC or more", n) == "5 ");
    }
}

TEST_CASE("stop texts: only a text that may still become one is held back", "[generate]") {
    StopTexts stop({"END", "\n\n"});
    CHECK(stop.push("a") == "a");
    CHECK(stop.push("E").empty());
    CHECK(stop.push("NO") == "ENO");
    CHECK(stop.push("b\n") == "b");
    CHECK(stop.push("c") == "\nc");
    CHECK_FALSE(stop.found());
    CHECK(stop.push("d\n\nmore") == "d");
    CHECK(stop.found());
    CHECK(stop.push("END").empty());
    CHECK(stop.finish().empty());
    CHECK_THROWS_AS(StopTexts({""}), inkling::Error);
}
