// tokenizer.json of byte-level BPE: errors name the cause in one line.
#include "data/tokenizers/json/bpe_json.h"

#include "tests/data/tokenizers/bpe_reference.h"
#include "tests/support/json_changes.h"

using namespace inkling::data;
using nlohmann::json;

namespace {

json whole() { return bpe_reference()["tokenizer"]; }

// The error message for a file; "" if it is read.
std::string message(const std::string& text) {
    const std::string what = inkling::testing::error_of([&] { parse_tokenizer(text, "tokenizer.json"); });
    CHECK_ALL((what.empty() || what.starts_with("tokenizer.json: ")), what.find('\n') == std::string::npos);
    CHECK(what.size() < 400);
    return what;
}
std::string refusal(const json& file) { return message(file.dump()); }

json added(const std::string& content, int id) { return {{"id", id}, {"content", content}}; }

}  // namespace

TEST_CASE("BPE tokenizer.json: written and read again", "[data][bpe]") {
    CHECK(refusal(whole()).empty());
    const BpeTokenizer& t = small_tokenizer();
    const auto again = parse_tokenizer(t.to_json(), "t");
    CHECK_ALL(dynamic_cast<const BpeTokenizer&>(*again).spec() == t.spec(), again->to_json() == t.to_json());
    const json written = json::parse(t.to_json()), read = whole();
    for (const char* key : {"vocab", "merges", "type"}) CHECK(written["model"][key] == read["model"][key]);
    CHECK(written["added_tokens"] == read["added_tokens"]);
}

TEST_CASE("BPE tokenizer.json: other kinds and settings are refused by name, all at once", "[data][bpe]") {
    check_changes(whole(), refusal, R"json([
        [{"/model/type": "Unigram"}, "Unigram"],
        [{"/model/type": "WordPiece"}, "WordPiece"],
        [{"/model/type": "WordLevel"}, "WordLevel"],
        [{"/model/type": null}, "model of type 'unknown'"],
        [{"/normalizer": {"type": "NFKC"}}, "not supported: normalizer of type 'NFKC'"],
        [{"/pre_tokenizer": {"type": "BertPreTokenizer"}}, "'BertPreTokenizer'"],
        [{"/pre_tokenizer": null}, "without a ByteLevel"],
        [{"/pre_tokenizer": null, "/decoder": null}, "decoder of type 'none' (it puts spaces between tokens)"],
        [{"/pre_tokenizer/use_regex": 1}, "use_regex"],
        [{"/post_processor": {"type": "RobertaProcessing"}}, "'RobertaProcessing'"],
        [{"/post_processor": {"type": "TemplateProcessing"}}, "'TemplateProcessing': single"],
        [{"/post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}], "pair": []}}, ""],
        [{"/post_processor": {"type": "ByteLevel"}}, ""],
        [{"/decoder": {"type": "WordPiece"}}, "'WordPiece'"],
        [{"/decoder": null}, "decoder"],
        [{"/decoder": {"type": "Strip", "content": " ", "start": -1, "stop": 0}},
         "'Strip': start must be a whole number of at least 0, got -1"],
        [{"/decoder": {"type": "Strip", "content": " ", "start": 1}}, "must be whole numbers"],
        [{"/truncation": {"max_length": 5}, "/padding": {"length": 5}}, ""],
        [{"/model/dropout": 0.1}, "dropout"],
        [{"/model/dropout": 0.0}, ""],
        [{"/model/continuing_subword_prefix": "##"}, "continuing_subword_prefix"],
        [{"/model/continuing_subword_prefix": ""}, ""],
        [{"/model/end_of_word_suffix": "</w>"}, "end_of_word_suffix"],
        [{"/model/unk_token": "<|endoftext|>"}, ""],
        [{"/model/unk_token": 1, "/pre_tokenizer": null, "/decoder": {"type": "Fuse"}},
         "model.unk_token must be a text, got 1"],
        [{"/model/byte_fallback": true}, ""],
        [{"/model/byte_fallback": 1}, "byte_fallback must be true or false"],
        [{"/model/ignore_merges": "yes"}, "ignore_merges"],
        [{"/model": {"type": "Unigram", "vocab": []},
          "/normalizer": {"type": "Sequence", "normalizers": [{"type": "Precompiled"}, {"type": "NFC"}]},
          "/pre_tokenizer": {"type": "Metaspace", "replacement": "_"},
          "/post_processor": {"type": "BertProcessing"}, "/decoder": {"type": "CTC"}},
         ["tokenizer.json: not supported: model of type 'Unigram' (only BPE is); normalizer of type 'Precompiled'; ",
          "post_processor of type 'BertProcessing'; decoder of type 'CTC'; ",
          "decoder of type 'CTC' (it puts spaces between tokens)"]],
        [{"/model/dropout": 0.5, "/model/end_of_word_suffix": "</w>", "/pre_tokenizer": {"type": "Sequence",
          "pretokenizers": [{"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated"},
                            {"type": "ByteLevel"}]}},
         ["tokenizer.json: not supported: the pattern has '.' at byte 0, which is not supported; ",
          "model.end_of_word_suffix \"</w>\"; model.dropout 0.5"]]
    ])json");
    json no_tilde = whole();
    no_tilde["model"]["vocab"].erase("~");
    check_changes(no_tilde, refusal, R"json([[{"/model/unk_token": "<|endoftext|>"}, "255 of 256"],
        [{"/model/byte_fallback": true}, "byte_fallback"]])json");
    const std::vector<json> nine(9, {{"type", "NFKC"}});
    json many = whole();
    many["normalizer"] = {{"type", "Sequence"}, {"normalizers", nine}};
    const std::string said = refusal(many);
    CHECK(std::count(said.begin(), said.end(), ';') == 7);  // a message names eight
}

TEST_CASE("BPE tokenizer.json: steps that would take for ever, or all memory", "[data][bpe]") {
    const json twice = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
    const json hostile = {{"type", "Sequence"}, {"normalizers", std::vector<json>(31, twice)}};
    json j = whole();
    j["normalizer"] = hostile;
    const auto t = parse_tokenizer(j.dump(), "t");
    CHECK_THROWS_WITH(t->encode("a"), contains("its steps make a text too long: at most"));
    j["normalizer"]["normalizers"].push_back(twice);
    CHECK_THAT(refusal(j), contains("more than 32 steps"));
    json deep = {{"type", "ByteLevel"}}, nested = whole();
    for (int i = 0; i < 60; ++i) deep = {{"type", "Sequence"}, {"pretokenizers", json::array({deep})}};
    nested["pre_tokenizer"] = deep;
    CHECK_THAT(refusal(nested), contains("more than 32 steps"));
}

TEST_CASE("BPE tokenizer.json: the settings of steps before ByteLevel", "[data][bpe]") {
    json file = whole();
    file["pre_tokenizer"] = json::parse(R"json({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "a+"}, "behavior": "Isolated", "invert": false},
        {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]})json");
    check_changes(file, refusal, R"json([
        [{}, ""],
        [{"/pre_tokenizer/pretokenizers/0/pattern": {"String": "("}}, ""],
        [{"/pre_tokenizer/pretokenizers/0/behavior": "MergedWithNext"}, ""],
        [{"/pre_tokenizer/pretokenizers/0/behavior": "Removed"}, ""],
        [{"/pre_tokenizer/pretokenizers/0/behavior": "Dropped"}, "\"Dropped\""],
        [{"/pre_tokenizer/pretokenizers/0/behavior": null}, "no behavior null"],
        [{"/pre_tokenizer/pretokenizers/0/pattern": {"Regex": "\\w+"}}, "not supported"],
        [{"/pre_tokenizer/pretokenizers/0/pattern": {"Regex": "(("}}, "pattern"],
        [{"/pre_tokenizer/pretokenizers/0/pattern": {"Regex": "a*"}}, "can match the empty text"],
        [{"/pre_tokenizer/pretokenizers/0/pattern": {"Regex": ""}}, "empty pattern"],
        [{"/pre_tokenizer/pretokenizers/0/pattern": "a"}, "pattern"],
        [{"/pre_tokenizer/pretokenizers/0": {"type": "Digits"}}, ""],
        [{"/pre_tokenizer/pretokenizers/0": {"type": "Punctuation"}}, ""],
        [{"/pre_tokenizer/pretokenizers/0": {"type": "Punctuation", "behavior": "Contiguous"}}, ""],
        [{"/pre_tokenizer/pretokenizers/0": {"type": "Punctuation", "behavior": 1}}, "there is no behavior 1"],
        [{"/pre_tokenizer/pretokenizers/0": {"type": "ByteLevel"}}, "'ByteLevel' twice"],
        [{"/pre_tokenizer/pretokenizers/0": {"type": "Metaspace", "replacement": "_"}},
         "both 'ByteLevel' and 'Metaspace'"],
        [{"/pre_tokenizer/pretokenizers": []}, "without a ByteLevel pre_tokenizer"],
        [{"/pre_tokenizer/pretokenizers": 7}, "list of pretokenizers"]
    ])json");
    file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "_"}};
    check_changes(file, refusal, R"json([
        [{"/pre_tokenizer/replacement": "ab"}, "one character"],
        [{"/pre_tokenizer/replacement": ""}, "replacement must be one character, got \"\""],
        [{"/pre_tokenizer/replacement": 1}, "replacement must be a text, got 1"],
        [{"/pre_tokenizer/prepend_scheme": "last"}, "there is no prepend_scheme \"last\""],
        [{"/pre_tokenizer/prepend_scheme": 1}, "no prepend_scheme 1"],
        [{"/pre_tokenizer/prepend_scheme": "first", "/pre_tokenizer/add_prefix_space": false},
         "add_prefix_space and prepend_scheme disagree"],
        [{"/pre_tokenizer/prepend_scheme": "first",
          "/normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": ""}},
         "may drop the beginning of a text"],
        [{"/pre_tokenizer/prepend_scheme": "first",
          "/normalizer": {"type": "Strip", "strip_left": true, "strip_right": false}},
         "may drop the beginning of a text"],
        [{"/normalizer": {"type": "Strip", "strip_left": 1}}, "strip_left must be true or false, got 1"]
    ])json");
    file["pre_tokenizer"]["add_prefix_space"] = false;
    CHECK_THAT(refusal(file), !contains("Metaspace"));
    file["pre_tokenizer"]["prepend_scheme"] = "never";
    CHECK_THAT(refusal(file), !contains("Metaspace"));
    file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "always"}};
    file["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", ""}};
    CHECK_THAT(refusal(file), !contains("may drop the beginning"));
}

TEST_CASE("BPE tokenizer.json: what stands before and behind a text", "[data][bpe]") {
    json file = whole();
    file["post_processor"] = json::parse(R"json({"type": "TemplateProcessing", "special_tokens": {"<a>": {"ids": [5]}},
        "single": [{"SpecialToken": {"id": "<a>"}}, {"Sequence": {"id": "A"}}]})json");
    check_changes(file, refusal, R"json([
        [{}, ""],
        [{"/post_processor/single": [{"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "<a>"}}]}, ""],
        [{"/post_processor/single/0": {"Sequence": {"id": "A"}}}, "neither the text nor one of its special_tokens"],
        [{"/post_processor/single": [{"Sequence": {"id": "B"}}]}, "neither the text nor one of its special_tokens"],
        [{"/post_processor/single/0": {"SpecialToken": {"id": 1}}}, "neither the text nor one of its special_tokens"],
        [{"/post_processor/single": [1]}, "neither the text nor one of its special_tokens"],
        [{"/post_processor/single/0/SpecialToken/id": "<b>"}, "neither the text nor one of its special_tokens"],
        [{"/post_processor/single": [{"SpecialToken": {"id": "<a>"}}]}, "single has no place for the text"],
        [{"/post_processor/special_tokens/<a>/ids": 5}, "ids of \"<a>\" must be a list"],
        [{"/post_processor/special_tokens/<a>/ids": [-1]}, "\"<a>\" has the id -1"],
        [{"/post_processor/special_tokens/<a>/ids": [2147483647]}, "has the id 2147483647"]
    ])json");
    json long_list = file, long_ids = file;
    for (int i = 0; i < 31; ++i) long_list["post_processor"]["single"].push_back(file["post_processor"]["single"][0]);
    CHECK_THAT(refusal(long_list), contains("a list of at most 32 parts"));
    long_ids["post_processor"]["special_tokens"]["<a>"]["ids"] = std::vector<int>(33, 5);
    CHECK_THAT(refusal(long_ids), contains("ids of \"<a>\" must be a list"));
}

TEST_CASE("BPE tokenizer.json: ids, merges and added tokens", "[data][bpe]") {
    check_changes(whole(), refusal, R"json([
        [{"/model/vocab/b": -1}, "whole numbers in [0, "],
        [{"/model/vocab/b": 1.0}, "whole numbers in [0, "],
        [{"/model/vocab/b": 1e2}, "whole numbers in [0, "],
        [{"/model/vocab/b": "1"}, "whole numbers in [0, "],
        [{"/model/vocab/b": null}, "whole numbers in [0, "],
        [{"/model/vocab/b": 18446744073709551615}, "whole numbers in [0, "],
        [{"/model/vocab/b": 2147483648}, "whole numbers in [0, "],
        [{"/model/vocab/b": 2000000}, "whole numbers in [0, "],
        [{"/model/vocab/b": 5}, "id 5 is used twice"],
        [{"/model/vocab/b": 1000}, ""],
        [{"/model/vocab/": 400}, "empty token"],
        [{"/model/vocab": {}}, "vocabulary"],
        [{"/model/vocab": 3}, "vocabulary"],
        [{"/model/merges": []}, ""],
        [{"/model/merges": [["n", "a"], ["n", "a"]]}, ""],
        [{"/model/merges": ["n a"]}, ""],
        [{"/model/merges": ["#version: 0.2", "n a"]}, ""],
        [{"/model/merges": [["a", "~~"]]}, "\"~~\", which is not in the vocabulary"],
        [{"/model/merges": [["~", "~"]]}, "\"~~\", which is not in the vocabulary"],
        [{"/added_tokens/-": {"id": 400, "content": "<a>"}}, ""],
        [{"/added_tokens/-": {"id": 401, "content": "<a>"}}, "its id is 401, the tokenizers library would give it 400"],
        [{"/added_tokens/-": {"id": 400, "content": "b"}}, "its id is 400"],
        [{"/added_tokens/-": {"id": -1, "content": "<a>"}}, "whole numbers"],
        [{"/added_tokens/-": {"id": 400, "content": ""}}, "content"],
        [{"/added_tokens/-": {"id": 0, "content": "<|endoftext|>"}}, "twice"],
        [{"/added_tokens/-": {"id": 400, "content": "<a>", "special": 1}}, "special"],
        [{"/added_tokens/-": {"id": 400, "content": "<a>", "lstrip": 1}}, "lstrip"],
        [{"/added_tokens/-": {"id": 400, "content": "<a>", "rstrip": 1}}, "rstrip"],
        [{"/added_tokens/-": {"id": 400, "content": "<a>", "single_word": 1}}, "single_word"],
        [{"/added_tokens/-": {"id": 400, "content": "<a>", "normalized": 1}}, "normalized"],
        [{"/added_tokens": 7}, "added_tokens must be a list, got 7"]
    ])json");
    const auto with = [](const char* path, const json& value) {
        json file = whole();
        file[json::json_pointer(path)] = value;
        return refusal(file);
    };
    for (const char* bad :
         {"null", "{}", "[1]", "[[]]", R"([["a"]])", R"([["a", "b", "c"]])", R"([["a", 1]])", R"(["ab"])",
          R"(["a b c"])", R"([""])", R"(["a b", ["a", "b"]])", R"([["a", "b"], "a b"])"}) {
        INFO(bad);
        CHECK_FALSE(with("/model/merges", json::parse(bad)).empty());
    }
    for (const json& bad : std::vector<json>{1, nullptr, json::array(), {{"id", 400}}, {{"content", "<a>"}}})
        CHECK_FALSE(with("/added_tokens/-", bad).empty());
    CHECK(with("/added_tokens/-", added("b", small_tokenizer().encode("b")[0])).empty());
    CHECK_THAT(with("/added_tokens/-", added(std::string(1001, 'x'), 400)), contains("1000 bytes"));
    json no_list = whole();
    no_list.erase("added_tokens");
    CHECK(refusal(no_list).empty());
}

TEST_CASE("BPE tokenizer.json: beginnings of the file, damaged bytes, and large hostile files", "[data][bpe]") {
    json j = whole();
    j["model"]["merges"].erase(j["model"]["merges"].begin() + 3, j["model"]["merges"].end());
    const std::string text = j.dump();
    for (std::size_t n = 0; n < text.size(); n += n < 300 || n + 300 > text.size() ? 1 : 13)
        CHECK_FALSE(message(text.substr(0, n)).empty());
    Random random(4);
    for (int i = 0; i < 500; ++i) {
        std::string damaged = text;
        for (int k = 0; k < 3; ++k) damaged[below(random, damaged.size())] = static_cast<char>(below(random, 256));
        message(damaged);  // read or refused
    }
    json many = whole();  // large hostile files take no more than a moment
    for (int i = 0; i < 30'000; ++i) many["added_tokens"].push_back(added(fmt::format("<{}>", i), 400 + i));
    CHECK(message(many.dump()).empty());
    json same = whole();  // all begin alike
    for (int i = 1; i < 500; ++i) same["added_tokens"].push_back(added(std::string(500 + i, 'a'), 399 + i));
    const auto t = parse_tokenizer(same.dump(), "t");
    CHECK(t->decode(t->encode(std::string(200'000, 'a'))) == std::string(200'000, 'a'));
    json merges = whole();
    for (int i = 0; i < 100'000; ++i) merges["model"]["merges"].push_back({"n", "a"});
    CHECK(message(merges.dump()).empty());
}

TEST_CASE("GPT-2's two files", "[data][bpe]") {
    const ScratchFolder folder;
    folder.write("vocab.json", R"({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3})");
    folder.write("merges.txt", "#version: 0.2\na b\n");
    const auto t = load_tokenizer(folder.path());
    CHECK(t->encode("abba<|endoftext|>ab") == std::vector<std::int32_t>{2, 1, 0, 3, 2});
    CHECK_ALL(t->end_of_text() == 3, parse_tokenizer(t->to_json(), "t")->encode("abba") == t->encode("abba"));
    folder.write("merges.txt", "#version: 0.2\r\na b\r\n");
    CHECK(load_tokenizer(folder.path())->encode("ab") == std::vector<std::int32_t>{2});
    for (const char* bad : {"a c\n", "ab\n", "a b a\n", "a a\n"}) {
        folder.write("merges.txt", bad);
        CHECK_THROWS_WITH(load_tokenizer(folder.path()), contains("merges.txt: merge 0"));
    }
    folder.write("vocab.json", "[1]");
    CHECK_THROWS_WITH(load_tokenizer(folder.path()), contains("vocab.json"));
    folder.write("tokenizer.json", "{}");  // the newer file counts
    CHECK_THROWS_WITH(load_tokenizer(folder.path()), contains("tokenizer.json: "));
}
