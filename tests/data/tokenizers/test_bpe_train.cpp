#include "data/tokenizers/bpe/bpe_train.h"

#include <omp.h>

#include "data/tokenizers/bpe/byte_alphabet.h"
#include "engine/base/check.h"
#include "tests/catch.h"
#include "tests/data/shakespeare.h"
#include "tests/data/tokenizers/bpe_reference.h"

using namespace inkling;
using namespace inkling::data;
using namespace inkling::testing;
using nlohmann::json;

namespace {

BpeSpec train(const std::vector<std::string>& texts, std::size_t size) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return train_bpe(views, size);
}

json merges_of(const BpeSpec& spec) { return json::parse(BpeTokenizer(spec).to_json())["model"]["merges"]; }

}  // namespace

TEST_CASE("BPE training: the vocabulary and merges of the tokenizers library", "[data][bpe]") {
    const json made = json::parse(BpeTokenizer(train(reference_texts(), 400)).to_json());
    const json& expected = bpe_reference()["tokenizer"];
    CHECK(made["model"]["vocab"] == expected["model"]["vocab"]);
    CHECK(made["model"]["merges"] == expected["model"]["merges"]);
    CHECK(made["added_tokens"] == expected["added_tokens"]);
    CHECK(made["pre_tokenizer"]["type"] == expected["pre_tokenizer"]["type"]);
    CHECK(made["decoder"]["type"] == expected["decoder"]["type"]);
}

TEST_CASE("BPE training: until nothing is left, of a size that can be", "[data][bpe]") {
    CHECK(merges_of(train(reference_texts(), 100'000)) == bpe_reference()["all_merges"]);
    const BpeSpec nothing = train({""}, 1000);
    CHECK(nothing.vocab.size() == 257);
    CHECK(nothing.merges.empty());
    CHECK(train({}, 1000) == nothing);
    CHECK(train({"abcabc"}, 257) == nothing);
    CHECK_THROWS_WITH(train({"abc"}, 256), contains("at least 257 tokens"));  // a vocabulary that cannot be
    CHECK_THROWS_AS(train({"abc"}, 0), Error);
}

TEST_CASE("BPE training: ties go to the smaller ids, and a long run does not become one token", "[data][bpe]") {
    // pairs (a b) and (c d) twice each: "a b" has the smaller ids; " c" is once
    CHECK(merges_of(train({"ab cd\nab\ncd"}, 258)) == json::parse(R"([["a", "b"]])"));
    CHECK(merges_of(train({"x x x x"}, 1000)) == json::parse("[[\"\\u0120\", \"x\"]]"));
    CHECK(merges_of(train({"aaaaa"}, 1000)) == json::parse(R"([["a", "a"], ["aa", "a"], ["aa", "aaa"]])"));
    CHECK(train({"ab", "ab"}, 300) != train({"abab"}, 300));  // texts are split one by one
    CHECK(train({"ab", "ab"}, 300).merges.size() == 1);
    const BpeSpec spec = train({std::string(1'000'000, 'a')}, 1000);  // a long run does not become one token
    std::size_t longest = 0;
    for (const std::string& token : spec.vocab) longest = std::max(longest, token.size());
    CHECK(longest < max_bpe_token_length);
    CHECK(longest > max_bpe_token_length / 2);
    CHECK(spec.vocab.size() < 300);
    const BpeTokenizer t(spec);
    CHECK(t.decode(t.encode(std::string(300'001, 'a'))) == std::string(300'001, 'a'));
}

TEST_CASE("BPE training: the same with any number of threads", "[data][bpe]") {
    Random random(2);
    std::string text;
    while (text.size() < 3'000'000) text += random_text(random, 10) + " banana bandana cabana ";
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    const BpeSpec alone = train({text}, 600);
    omp_set_num_threads(3);
    CHECK(train({text}, 600) == alone);
    omp_set_num_threads(threads);
}

TEST_CASE("BPE training: tiny Shakespeare", "[data][bpe]") {
    const std::string text = shakespeare();
    const json merges = merges_of(train({text}, 1000));
    const json& last = bpe_reference()["shakespeare"]["last_merges_of_1000"];
    CHECK(json(std::vector<json>(merges.end() - 20, merges.end())) == last);
}

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
