#include "data/tokenizers/char_tokenizer.h"

#include "formats/utf8.h"
#include "tests/data/shakespeare.h"

using Ids = std::vector<std::int32_t>;

TEST_CASE("char tokenizer: ids are in code point order, in tokenizer.json too", "[data]") {
    const auto tokenizer = CharTokenizer::from_text("hello\n \xF0\x9F\x90\x8C\xC3\xA9");
    CHECK_ALL(tokenizer.vocab_size() == 8, tokenizer.kind() == TokenizerKind::characters, !tokenizer.end_of_text());
    CHECK(tokenizer.encode("\n ehlo\xC3\xA9\xF0\x9F\x90\x8C") == Ids{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK_ALL(tokenizer.decode(Ids{3, 2, 4, 4, 5, 7, 0}) == "hello\xF0\x9F\x90\x8C\n", tokenizer.encode("").empty());
    CHECK(tokenizer.decode({}).empty());
    const std::string shakespeare_text = testing::shakespeare();  // tiny Shakespeare has 65 characters and comes back
    const auto of_shakespeare = CharTokenizer::from_text(shakespeare_text);
    CHECK(of_shakespeare.vocab_size() == 65);
    const Ids ids = of_shakespeare.encode(shakespeare_text);
    CHECK(ids.size() == 1'115'394);
    CHECK(Ids(ids.begin(), ids.begin() + 5) == Ids{18, 47, 56, 57, 58});  // "First", as nanoGPT's prepare.py numbers it
    CHECK(of_shakespeare.decode(ids) == shakespeare_text);
    const auto j = nlohmann::json::parse(CharTokenizer::from_text("\"\\ \n\xC3\xA9").to_json());
    CHECK_ALL(j["version"] == "1.0", j["added_tokens"].empty(), j["normalizer"].is_null());
    CHECK_ALL(j["pre_tokenizer"].is_null(), j["post_processor"].is_null());
    CHECK(j["decoder"] == nlohmann::json{{"type", "Fuse"}});
    const nlohmann::json vocab = {{"\n", 0}, {" ", 1}, {"\"", 2}, {"\\", 3}, {"\xC3\xA9", 4}};
    auto model = nlohmann::json::parse(R"({"type": "BPE", "dropout": null, "unk_token": null, "fuse_unk": false,
        "continuing_subword_prefix": null, "end_of_word_suffix": null, "byte_fallback": false, "ignore_merges": false,
        "merges": []})");
    model["vocab"] = vocab;
    CHECK(j["model"] == model);
}

TEST_CASE("char tokenizer: unknown characters are named, ids outside and senseless vocabularies refused", "[data]") {
    const auto tokenizer = CharTokenizer::from_text("abc\xE2\x82\xAC");
    CHECK_THROWS_AS(tokenizer.encode("ab\xC3\xA9"), BadInput);
    CHECK_THROWS_WITH(
        tokenizer.encode("ab\xC3\xA9"),
        contains("the character '\xC3\xA9' (U+00E9) at byte 2 is not in the vocabulary of 4 characters: leave it out, "
                 "train on a text that has it, or train with --tokenizer bpe, which takes any text"));
    CHECK_THROWS_WITH(tokenizer.encode("\xF0\x9F\x90\x8C"), contains("(U+1F40C) at byte 0"));
    CHECK_THROWS_WITH(tokenizer.encode("a\nb"), contains("the character U+000A at byte 1"));
    CHECK_THROWS_WITH(tokenizer.encode("a\xFF"), contains("byte 1 is 0xFF"));
    const auto letters = CharTokenizer::from_text("abc");  // ids outside the vocabulary are refused
    CHECK_THROWS_WITH(letters.decode(Ids{0, 3}), contains("in [0, 3), got 3"));
    CHECK_THROWS_AS(letters.decode(Ids{-1}), BadInput);
    CHECK_THROWS_AS(CharTokenizer::from_text(""), BadInput);       // vocabularies that can not be
    CHECK_THROWS_AS(CharTokenizer::from_text("a\xFF"), BadInput);  // vocabularies that can not be
    CHECK_THROWS_WITH(CharTokenizer({U'a', U'b', U'a'}), contains("'a' (U+0061) has two ids, 0 and 2"));
}

TEST_CASE("char tokenizer: unknown characters are replaced and counted where that is asked for", "[data]") {
    const auto replaced = [](std::string_view known, std::string_view text) {
        auto tokenizer = CharTokenizer::from_text(known);
        tokenizer.unknown = std::make_shared<UnknownCharacters>();
        CHECK(tokenizer.knows(known));
        const std::string known_text = tokenizer.decode(tokenizer.encode(text));
        return known_text + " | " + tokenizer.unknown->note();
    };
    CHECK(replaced("ab ?", "ab\xC3\xA9 \xE6\xBC\xA2\xC3\xA9") ==
          "ab? ?? | 3 characters that the model does not know ('\xC3\xA9', '\xE6\xBC\xA2') were replaced by '?'");
    CHECK(replaced("ab \n", "a\tb") == "a b | 1 character that the model does not know (U+0009) was replaced by ' '");
    CHECK(replaced("ab?\xEF\xBF\xBD", "c") ==
          "\xEF\xBF\xBD | 1 character that the model does not know ('c') was replaced by '\xEF\xBF\xBD'");
    CHECK(replaced("\xE3\x81\x82\xEF\xBC\x9F\xE3\x80\x80", "c").starts_with("\xEF\xBC\x9F |"));  // Japanese
    CHECK(replaced("ba", "bcd").starts_with("baa |"));
    CHECK(replaced("?", "abcdefg") ==
          "??????? | 7 characters that the model does not know ('a', 'b', 'c', 'd', 'e', ...) were replaced by '?'");
    CHECK(replaced("ab", "ab") == "ab | ");
    auto tokenizer = CharTokenizer::from_text("a?");
    CHECK_ALL(!tokenizer.knows("ab"), !tokenizer.knows("a\xFF"));
    tokenizer.unknown = std::make_shared<UnknownCharacters>();
    tokenizer.encode("a\xE6\xBC\xA2");
    CHECK_ALL(tokenizer.unknown->tally().characters == 1, tokenizer.unknown->tally().growth == -2);
    CHECK_THROWS_WITH(tokenizer.encode("a\xFF"), contains("byte 1 is 0xFF"));
}

TEST_CASE("char tokenizer: byte fallback writes any text, and is taken where the vocabulary gets smaller", "[data]") {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "ab\xC3\xA9\n";
    text += "z";  // 1 of 4,001: 2 may be left out
    const auto tokenizer = CharTokenizer::from_texts(std::vector<std::string_view>{text}, ByteFallback::always);
    CHECK_ALL(tokenizer.vocab_size() == 4 + 256, tokenizer.has_byte_fallback());
    CHECK_FALSE(CharTokenizer::from_text(text).has_byte_fallback());
    CHECK(tokenizer.encode("\nab\xC3\xA9") == Ids{0, 1, 2, 3});
    CHECK(tokenizer.encode("z\xE6\xBC\xA2") == Ids{4 + 'z', 4 + 0xE6, 4 + 0xBC, 4 + 0xA2});
    CHECK(tokenizer.decode(Ids{1, 4 + 0xE6, 4 + 0xBC, 4 + 0xA2, 2}) ==
          "a\xE6\xBC\xA2"
          "b");
    CHECK(tokenizer.knows("\xF0\x9F\x90\x8C"));
    CHECK_THROWS_AS(tokenizer.encode("a\xFF"), BadInput);
    CHECK_THROWS_WITH(CharTokenizer({U'a', CharTokenizer::byte_token + 7}), contains("256 bytes, got 1"));
    CHECK_THROWS_WITH(CharTokenizer({U'a', CharTokenizer::byte_token + 7, CharTokenizer::byte_token + 7}),
                      contains("the character <0x07> has two ids, 1 and 2"));
    std::string long_text(2'000'000, 'a');
    const auto size = [&](ByteFallback fallback) {
        return CharTokenizer::from_texts(std::vector<std::string_view>{long_text}, fallback).vocab_size();
    };
    for (char32_t c = 0x4E00; c < 0x4E00 + 256; ++c) formats::append_utf8(long_text, c);
    CHECK(size(ByteFallback::never) == 257);
    CHECK(size(ByteFallback::automatic) == 257);  // a and 256 bytes would be as many
    formats::append_utf8(long_text, 0x4E00 + 256);
    CHECK_ALL(size(ByteFallback::never) == 258, size(ByteFallback::automatic) == 257);
    CHECK(size(ByteFallback::always) == 257);
}
