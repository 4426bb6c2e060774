#include "data/tokenizers/bpe/bpe_train.h"

#include "data/tokenizers/bpe/byte_alphabet.h"
#include "tests/data/shakespeare.h"
#include "tests/data/tokenizers/bpe_reference.h"

static BpeSpec learn(const std::vector<std::string>& texts, std::size_t size) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return train_bpe(views, size);
}

static json merges_of(const BpeSpec& spec) { return json::parse(BpeTokenizer(spec).to_json())["model"]["merges"]; }

TEST_CASE("BPE training: vocabulary and merges of the tokenizers library, with any threads", "[data][bpe]") {
    const json made = json::parse(BpeTokenizer(learn(reference_texts(), 400)).to_json());
    const json& expected = bpe_reference()["tokenizer"];
    CHECK(made["model"]["vocab"] == expected["model"]["vocab"]);
    CHECK_ALL(made["model"]["merges"] == expected["model"]["merges"], made["added_tokens"] == expected["added_tokens"]);
    CHECK(made["pre_tokenizer"]["type"] == expected["pre_tokenizer"]["type"]);
    CHECK(made["decoder"]["type"] == expected["decoder"]["type"]);
    CHECK(merges_of(learn(reference_texts(), 100'000)) == bpe_reference()["all_merges"]);
    const BpeSpec nothing = learn({""}, 1000);
    CHECK_ALL(nothing.vocab.size() == 257, nothing.merges.empty(), learn({}, 1000) == nothing);
    CHECK(learn({"abcabc"}, 257) == nothing);
    CHECK_THROWS_WITH(learn({"abc"}, 256), contains("at least 257 tokens"));  // a vocabulary that cannot be
    CHECK_THROWS_AS(learn({"abc"}, 0), Error);
    // pairs (a b) and (c d) twice each: "a b" has the smaller ids; " c" is once
    CHECK(merges_of(learn({"ab cd\nab\ncd"}, 258)) == json::parse(R"([["a", "b"]])"));
    CHECK(merges_of(learn({"x x x x"}, 1000)) == json::parse("[[\"\\u0120\", \"x\"]]"));
    CHECK(merges_of(learn({"aaaaa"}, 1000)) == json::parse(R"([["a", "a"], ["aa", "a"], ["aa", "aaa"]])"));
    CHECK(learn({"ab", "ab"}, 300) != learn({"abab"}, 300));  // texts are split one by one
    CHECK(learn({"ab", "ab"}, 300).merges.size() == 1);
    const BpeSpec spec = learn({std::string(1'000'000, 'a')}, 1000);  // a long run does not become one token
    std::size_t longest = 0;
    for (const std::string& token : spec.vocab) longest = std::max(longest, token.size());
    CHECK_ALL(longest > max_bpe_token_length / 2, longest < max_bpe_token_length, spec.vocab.size() < 300);
    const BpeTokenizer t(spec);
    CHECK(t.decode(t.encode(std::string(300'001, 'a'))) == std::string(300'001, 'a'));
    Random random(2);
    std::string text;
    while (text.size() < 3'000'000) text += random_text(random, 10) + " banana bandana cabana ";
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    const BpeSpec alone = learn({text}, 600);
    omp_set_num_threads(3);
    CHECK(learn({text}, 600) == alone);
    omp_set_num_threads(threads);
    const std::string plays = shakespeare();
    const json merges = merges_of(learn({plays}, 1000));
    const json& last = bpe_reference()["shakespeare"]["last_merges_of_1000"];
    CHECK(json(std::vector<json>(merges.end() - 20, merges.end())) == last);
}

TEST_CASE("byte letters: GPT-2's, there and back, and invalid ones", "[data][bpe]") {
    CHECK(to_byte_letters(" a\n") ==
          "\xC4\xA0"
          "a\xC4\x8A");
    CHECK_ALL(to_byte_letters("") == "", byte_letters()[0] == 0x100, byte_letters()[' '] == 0x120);
    CHECK_ALL(byte_letters()['!'] == '!', byte_letters()[0x7F] == 0x121);
    CHECK(byte_letters()[0xAD] == 0x143);  // soft hyphen
    CHECK(byte_letters()[0xFF] == 0xFF);
    std::string all;
    for (int b = 0; b < 256; ++b) all.push_back(static_cast<char>(b));
    CHECK(from_byte_letters(to_byte_letters(all)) == all);
    for (const char* text : {" ", "a b", "\n", "\xC5\x84" /* U+0144 */, "\xE4\xBD\xA0", "\xC2\xAD", "\xFF", "a\xC4"})
        CHECK_FALSE(from_byte_letters(text));  // invalid ones
    CHECK(from_byte_letters("") == "");
}
