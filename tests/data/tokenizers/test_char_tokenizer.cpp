#include "data/tokenizers/char_tokenizer.h"

#include <nlohmann/json.hpp>

#include "engine/check.h"
#include "tests/catch.h"
#include "tests/data/shakespeare.h"

using namespace inkling;
using namespace inkling::data;

using Ids = std::vector<std::int32_t>;

TEST_CASE("char tokenizer: ids are in code point order", "[data]") {
    const auto tokenizer = CharTokenizer::from_text("hello\n \xF0\x9F\x90\x8C\xC3\xA9");
    CHECK(tokenizer.vocab_size() == 8);
    CHECK(tokenizer.kind() == TokenizerKind::characters);
    CHECK(!tokenizer.end_of_text());
    CHECK(tokenizer.encode("\n ehlo\xC3\xA9\xF0\x9F\x90\x8C") == Ids{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(tokenizer.decode(Ids{3, 2, 4, 4, 5, 7, 0}) == "hello\xF0\x9F\x90\x8C\n");
    CHECK(tokenizer.encode("").empty());
    CHECK(tokenizer.decode({}).empty());
}

TEST_CASE("char tokenizer: unknown characters are named", "[data]") {
    const auto tokenizer = CharTokenizer::from_text("abc\xE2\x82\xAC");
    CHECK_THROWS_AS(tokenizer.encode("ab\xC3\xA9"), BadInput);
    CHECK_THROWS_WITH(
        tokenizer.encode("ab\xC3\xA9"),
        ContainsSubstring(
            "the character '\xC3\xA9' (U+00E9) at byte 2 is not in the vocabulary of 4 characters: leave it out, "
            "train on a text that has it, or train with --tokenizer bpe, which takes any text"));
    CHECK_THROWS_WITH(tokenizer.encode("\xF0\x9F\x90\x8C"), ContainsSubstring("(U+1F40C) at byte 0"));
    CHECK_THROWS_WITH(tokenizer.encode("a\nb"), ContainsSubstring("the character U+000A at byte 1"));
    CHECK_THROWS_WITH(tokenizer.encode("a\xFF"), ContainsSubstring("byte 1 is 0xFF"));
}

TEST_CASE("char tokenizer: ids outside the vocabulary are refused", "[data]") {
    const auto tokenizer = CharTokenizer::from_text("abc");
    CHECK_THROWS_WITH(tokenizer.decode(Ids{0, 3}), ContainsSubstring("in [0, 3), got 3"));
    CHECK_THROWS_AS(tokenizer.decode(Ids{-1}), BadInput);
}

TEST_CASE("char tokenizer: vocabularies that can not be", "[data]") {
    CHECK_THROWS_AS(CharTokenizer::from_text(""), BadInput);
    CHECK_THROWS_AS(CharTokenizer::from_text("a\xFF"), BadInput);
    CHECK_THROWS_WITH(CharTokenizer({U'a', U'b', U'a'}), ContainsSubstring("'a' (U+0061) has two ids, 0 and 2"));
}

TEST_CASE("char tokenizer: tokenizer.json says what `tokenizers` expects", "[data]") {
    const auto j = nlohmann::json::parse(CharTokenizer::from_text("\"\\ \n\xC3\xA9").to_json());
    CHECK(j["version"] == "1.0");
    CHECK(j["added_tokens"].empty());
    CHECK(j["normalizer"].is_null());
    CHECK(j["pre_tokenizer"].is_null());
    CHECK(j["post_processor"].is_null());
    CHECK(j["decoder"] == nlohmann::json{{"type", "Fuse"}});
    const nlohmann::json vocab = {{"\n", 0}, {" ", 1}, {"\"", 2}, {"\\", 3}, {"\xC3\xA9", 4}};
    const nlohmann::json model = {{"type", "BPE"},
                                  {"dropout", nullptr},
                                  {"unk_token", nullptr},
                                  {"continuing_subword_prefix", nullptr},
                                  {"end_of_word_suffix", nullptr},
                                  {"fuse_unk", false},
                                  {"byte_fallback", false},
                                  {"ignore_merges", false},
                                  {"vocab", vocab},
                                  {"merges", nlohmann::json::array()}};
    CHECK(j["model"] == model);
}

TEST_CASE("char tokenizer: tiny Shakespeare has 65 characters and comes back", "[data]") {
    const std::string text = tests::shakespeare();
    const auto tokenizer = CharTokenizer::from_text(text);
    CHECK(tokenizer.vocab_size() == 65);
    const Ids ids = tokenizer.encode(text);
    CHECK(ids.size() == 1'115'394);
    CHECK(Ids(ids.begin(), ids.begin() + 5) == Ids{18, 47, 56, 57, 58});  // "First", as nanoGPT's prepare.py numbers it
    CHECK(tokenizer.decode(ids) == text);
}
