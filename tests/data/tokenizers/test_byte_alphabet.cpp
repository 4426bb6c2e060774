#include "data/tokenizers/bpe/byte_alphabet.h"

#include "tests/catch.h"

using namespace inkling::data;

TEST_CASE("byte letters: GPT-2's, there and back, and invalid ones", "[data][bpe]") {
    CHECK(to_byte_letters(" a\n") ==
          "\xC4\xA0"
          "a\xC4\x8A");
    CHECK(to_byte_letters("") == "");
    CHECK(byte_letters()[0] == 0x100);
    CHECK(byte_letters()[' '] == 0x120);
    CHECK(byte_letters()['!'] == '!');
    CHECK(byte_letters()[0x7F] == 0x121);
    CHECK(byte_letters()[0xAD] == 0x143);  // soft hyphen
    CHECK(byte_letters()[0xFF] == 0xFF);
    std::string all;
    for (int b = 0; b < 256; ++b) all.push_back(static_cast<char>(b));
    CHECK(from_byte_letters(to_byte_letters(all)) == all);
    for (const char* text : {" ", "a b", "\n", "\xC5\x84" /* U+0144 */, "\xE4\xBD\xA0", "\xC2\xAD", "\xFF", "a\xC4"})
        CHECK_FALSE(from_byte_letters(text));  // invalid ones
    CHECK(from_byte_letters("") == "");
}
