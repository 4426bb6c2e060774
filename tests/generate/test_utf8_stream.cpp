#include "generate/utf8_stream.h"

#include "formats/utf8.h"
#include "tests/catch.h"
#include "tests/data/tokenizers/bpe_reference.h"

using namespace inkling;
using generate::to_valid_utf8;
using generate::Utf8Stream;

TEST_CASE("UTF-8 stream: never half a character", "[generate]") {
    Utf8Stream stream;
    CHECK(stream.push("a\xE2") == "a");
    CHECK(stream.push("\x82") == "");
    CHECK(stream.push("\xAC!") == "\xE2\x82\xAC!");
    CHECK(stream.finish() == "");
    CHECK(stream.push("\xF0\x9F\x98") == "");
    CHECK(stream.finish() == "\xEF\xBF\xBD");
    CHECK(stream.finish() == "");
    CHECK(stream.push("b") == "b");
}

TEST_CASE("UTF-8 stream: what Python's errors='replace' makes of bytes", "[generate]") {
    const std::string r = "\xEF\xBF\xBD";
    CHECK(to_valid_utf8("") == "");
    CHECK(to_valid_utf8("\xFF"
                        "a") == r + "a");
    CHECK(to_valid_utf8("\x80\x80") == r + r);
    CHECK(to_valid_utf8("\xC0\x80") == r + r);
    CHECK(to_valid_utf8("\xE2\x82"
                        "a") == r + "a");
    CHECK(to_valid_utf8("\xE0\x80\x80") == r + r + r);
    CHECK(to_valid_utf8("\xED\xA0\x80") == r + r + r);
    CHECK(to_valid_utf8("\xF4\x90\x80\x80") == r + r + r + r);
    CHECK(to_valid_utf8("\xF0\x9F\x98\xE2\x82\xAC") == r + "\xE2\x82\xAC");
    CHECK(to_valid_utf8("\xF0\x9F\x98\x80") == "\xF0\x9F\x98\x80");
    CHECK(to_valid_utf8("\xF5\xC3") == r + r);
}

TEST_CASE("UTF-8 stream: the same however the bytes come", "[generate]") {
    testing::Random random(1);
    for (int i = 0; i < 2000; ++i) {
        std::string bytes =
            testing::random_bytes(random, 6) + testing::random_text(random, 5) + testing::random_bytes(random, 3);
        if (i % 3 == 0) bytes.erase(testing::below(random, bytes.size()), 1);
        Utf8Stream stream;
        std::string text;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t n = std::min(1 + testing::below(random, 3), bytes.size() - at);
            text += stream.push(bytes.substr(at, n));
            REQUIRE(formats::find_invalid_utf8(text) == std::string::npos);
            at += n;
        }
        text += stream.finish();
        REQUIRE(text == to_valid_utf8(bytes));
    }
}
