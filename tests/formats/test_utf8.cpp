#include "formats/utf8.h"

#include "formats/sha256.h"

constexpr auto npos = std::string_view::npos;

static std::string utf8(char32_t c) {
    std::string text;
    append_utf8(text, c);
    return text;
}

TEST_CASE("utf8: every code point comes back, and invalid text is found at its first byte", "[data]") {
    CHECK_ALL(utf8(U'a') == "a", utf8(0xE9) == "\xC3\xA9", utf8(0x20AC) == "\xE2\x82\xAC");
    CHECK(utf8(0x1F40C) == "\xF0\x9F\x90\x8C");
    CHECK(to_code_points("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x8C") ==
          std::vector<char32_t>{U'a', 0xE9, 0x20AC, 0x1F40C});
    CHECK(to_code_points("").empty());
    std::size_t wrong = 0, made = 0;  // every code point comes back from its bytes
    for (char32_t c = 0; c <= 0x10FFFF; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        const std::string text = utf8(c);
        std::size_t at = 0;
        wrong += next_code_point(text, at) != c || at != text.size();
        ++made;
    }
    CHECK_ALL(wrong == 0, made == 0x110000 - 0x800);
    std::size_t differ = 0;  // two bytes are valid exactly when the standard says so
    for (int a = 0; a < 256; ++a)
        for (int b = 0; b < 256; ++b) {
            const bool valid = (a < 0x80 && b < 0x80) || (a >= 0xC2 && a <= 0xDF && b >= 0x80 && b <= 0xBF);
            const char text[] = {static_cast<char>(a), static_cast<char>(b)};
            differ += (find_invalid_utf8({text, 2}) == npos) != valid;
        }
    CHECK(differ == 0);
    const std::string_view bad =
        GENERATE(as<std::string_view>(), "\x80", "\xBF", "\xC0\xAF", "\xC1\xBF",  // overlong /
                 "\xE0\x80\xAF", "\xE0\x9F\xBF", "\xF0\x80\x80\xAF", "\xF0\x8F\xBF\xBF", "\xED\xA0\x80",
                 "\xED\xBF\xBF",  // surrogates
                 "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF8\x88\x80\x80\x80", "\xFE", "\xFF", "\xC3", "\xE2\x82",
                 "\xF0\x9F\x90", "\xC3(", "\xE2(\xA1", "\xE2\x82(");
    CHECK_ALL(find_invalid_utf8(bad) == 0, find_invalid_utf8("\xC3\xA9 " + std::string(bad) + " x") == 3);
    for (std::string_view good : {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                                  "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
        CHECK(find_invalid_utf8(good) == npos);  // the ends of the valid ranges are valid
    CHECK(find_invalid_utf8(std::string_view("a\0b", 3)) == npos);
    CHECK_THROWS_AS(to_code_points("ab\xFFz"), BadInput);  // errors name the byte
    CHECK_THROWS_WITH(to_code_points("ab\xFFz"), contains("byte 2 is 0xFF"));
    std::string text;
    CHECK_THROWS_WITH(append_utf8(text, 0xD800), contains("0xD800"));
    CHECK_THROWS_WITH(append_utf8(text, 0x110000), contains("0x110000"));
    CHECK(text.empty());
}

TEST_CASE("utf8: decoding passes every byte, white space is stripped in whole characters", "[data]") {
    std::size_t stuck = 0, wrong = 0;
    for (int a = 0; a < 256; ++a)
        for (int b = 0; b < 256; ++b)
            for (const char* rest : {"", "a", "\x80\x80"}) {
                const std::string text = std::string{static_cast<char>(a), static_cast<char>(b)} + rest;
                std::string again;
                for (std::size_t at = 0; at < text.size();) {
                    const std::size_t begin = at;
                    const char32_t c = next_code_point(text, at);
                    if (at <= begin) ++stuck, at = text.size();
                    if (c == invalid_code_point)
                        wrong += at != begin + 1;  // one byte, and the next may begin a character
                    else
                        wrong += utf8(c) != text.substr(begin, at - begin);
                }
            }
    CHECK_ALL(stuck == 0, wrong == 0);
    const std::string gbk = "\xC4\xE3\xBA\xC3, w";  // 你好 in GBK
    std::vector<char32_t> points;
    for (std::size_t at = 0; at < gbk.size();) points.push_back(next_code_point(gbk, at));
    CHECK(points == std::vector<char32_t>{invalid_code_point, invalid_code_point, invalid_code_point,
                                          invalid_code_point, U',', U' ', U'w'});
    const auto strip = [](std::string_view text) {
        const auto [begin, end] = stripped(text, is_white_space);
        return std::string(text.substr(begin, end - begin));
    };
    CHECK_ALL(strip("\xE3\x80\x80 a\xC2\xA0\xE2\x80\x83") == "a", strip("\xF0\x9F\x90\x8C\t") == "\xF0\x9F\x90\x8C");
    CHECK(strip(" \x80 ") == "\x80");  // a byte that is no character stays
    CHECK_ALL(strip("\xE3\x80 ") == "\xE3\x80", strip(" \n").empty());
}

TEST_CASE("sha256 and base64: examples of FIPS 180-4 and RFC 4648, and lengths around a block", "[formats]") {
    CHECK(hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(hex(sha256(std::string(1'000'000, 'a'))) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    // python3 -c 'import hashlib; print(hashlib.sha256(b"x" * n).hexdigest())'
    CHECK(hex(sha256(std::string(55, 'x'))) == "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
    CHECK(hex(sha256(std::string(64, 'x'))) == "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
    const std::vector<std::pair<std::string, std::string>> examples = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}};
    for (const auto& [bytes, text] : examples) CHECK(base64(bytes) == text);
    CHECK(base64(std::string("\xff\xfe\xfd", 3)) == "//79");
}
