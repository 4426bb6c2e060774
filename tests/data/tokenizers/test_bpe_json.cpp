// tokenizer.json of byte-level BPE: errors name the cause in one line.
#include "data/tokenizers/json/bpe_json.h"

#include <functional>

#include "tests/catch.h"
#include "tests/data/tokenizers/bpe_reference.h"
#include "tests/support/error_of.h"
#include "tests/support/scratch_folder.h"

using namespace inkling;
using namespace inkling::data;
using namespace inkling::testing;
using nlohmann::json;

namespace {

json whole() { return bpe_reference()["tokenizer"]; }

std::string message(const std::string& text) {
    const std::string what = inkling::testing::error_of([&] { parse_tokenizer(text, "tokenizer.json"); });
    CHECK((what.empty() || what.starts_with("tokenizer.json: ")));
    CHECK(what.find('\n') == std::string::npos);
    CHECK(what.size() < 400);
    return what;
}

// The error message for the reference file after a change; "" if it is read.
std::string refusal(const std::function<void(json&)>& change) {
    json j = whole();
    change(j);
    return message(j.dump());
}

json added(const char* content, int id) { return {{"id", id}, {"content", content}}; }

}  // namespace

TEST_CASE("BPE tokenizer.json: written and read again", "[data][bpe]") {
    CHECK(refusal([](json&) {}).empty());
    const BpeTokenizer& t = small_tokenizer();
    const auto again = parse_tokenizer(t.to_json(), "t");
    CHECK(dynamic_cast<const BpeTokenizer&>(*again).spec() == t.spec());
    CHECK(again->to_json() == t.to_json());
    const json written = json::parse(t.to_json()), read = whole();
    for (const char* key : {"vocab", "merges", "type"}) CHECK(written["model"][key] == read["model"][key]);
    CHECK(written["added_tokens"] == read["added_tokens"]);
}

TEST_CASE("BPE tokenizer.json: other kinds are refused by name", "[data][bpe]") {
    for (const char* type : {"Unigram", "WordPiece", "WordLevel"})
        CHECK_THAT(refusal([&](json& j) { j["model"]["type"] = type; }), contains(type));
    const auto with_part = [](const char* part, const char* type) {
        return refusal([&](json& j) { j[part] = {{"type", type}}; });
    };
    CHECK_THAT(with_part("normalizer", "NFKC"), contains("not supported: normalizer of type 'NFKC'"));
    CHECK_THAT(with_part("pre_tokenizer", "BertPreTokenizer"), contains("'BertPreTokenizer'"));
    CHECK_THAT(with_part("post_processor", "RobertaProcessing"), contains("'RobertaProcessing'"));
    CHECK_THAT(with_part("post_processor", "TemplateProcessing"), contains("'TemplateProcessing': single"));
    CHECK_THAT(with_part("decoder", "WordPiece"), contains("'WordPiece'"));
    CHECK_THAT(refusal([](json& j) { j["decoder"] = nullptr; }), contains("decoder"));
    CHECK(refusal([](json& j) { j["truncation"] = {{"max_length", 5}}; }).empty());  // neither matters here
    CHECK(refusal([](json& j) { j["padding"] = {{"length", 5}}; }).empty());
    CHECK_THAT(refusal([](json& j) { j["pre_tokenizer"] = nullptr; }), contains("without a ByteLevel"));
    CHECK_THAT(refusal([](json& j) { j["pre_tokenizer"] = j["decoder"] = nullptr; }),
               contains("decoder of type 'none' (it puts spaces between tokens)"));
    CHECK(refusal([](json& j) {
              j["post_processor"] = json::parse(
                  R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": []})");
          }).empty());
    CHECK(with_part("post_processor", "ByteLevel").empty());
}

TEST_CASE("BPE tokenizer.json: all that is not supported is named at once", "[data][bpe]") {
    CHECK(refusal([](json& j) {
              j["model"] = {{"type", "Unigram"}, {"vocab", json::array()}};
              j["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "Precompiled"}}, {{"type", "NFC"}}}}};
              j["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "_"}};
              j["post_processor"] = {{"type", "BertProcessing"}};
              j["decoder"] = {{"type", "CTC"}};
          }) ==
          "tokenizer.json: not supported: model of type 'Unigram' (only BPE is); normalizer of type 'Precompiled'; "
          "post_processor of type 'BertProcessing'; decoder of type 'CTC'; decoder of type 'CTC' (it puts spaces "
          "between tokens)");
    CHECK(refusal([](json& j) {
              j["model"]["dropout"] = 0.5;
              j["model"]["end_of_word_suffix"] = "</w>";
              j["pre_tokenizer"] = {{"type", "Sequence"},
                                    {"pretokenizers",
                                     {{{"type", "Split"}, {"pattern", {{"Regex", "."}}}, {"behavior", "Isolated"}},
                                      {{"type", "ByteLevel"}}}}};
          }) ==
          "tokenizer.json: not supported: the pattern has '.' at byte 0, which is not supported; "
          "model.end_of_word_suffix \"</w>\"; model.dropout 0.5");
}

TEST_CASE("BPE tokenizer.json: steps that would take for ever, or all memory", "[data][bpe]") {
    const json twice = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
    const json hostile = {{"type", "Sequence"}, {"normalizers", std::vector<json>(31, twice)}};
    json j = whole();
    j["normalizer"] = hostile;
    const auto t = parse_tokenizer(j.dump(), "t");
    CHECK_THROWS_WITH(t->encode("a"), contains("its steps make a text too long: at most"));
    j["normalizer"]["normalizers"].push_back(twice);
    CHECK_THAT(message(j.dump()), contains("more than 32 steps"));
    json deep = {{"type", "ByteLevel"}};
    for (int i = 0; i < 60; ++i) deep = {{"type", "Sequence"}, {"pretokenizers", json::array({deep})}};
    CHECK_THAT(refusal([&](json& k) { k["pre_tokenizer"] = deep; }), contains("more than 32 steps"));
}

TEST_CASE("BPE tokenizer.json: steps before ByteLevel", "[data][bpe]") {
    const auto steps = [](const char* list) {
        return refusal([&](json& j) {
            j["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", json::parse(list)}};
        });
    };
    const std::string last = R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}])";
    const auto split = [&](const std::string& rest) {
        return steps((R"([{"type": "Split", )" + rest + "}," + last).c_str());
    };
    CHECK(split(R"("pattern": {"Regex": "a+"}, "behavior": "Isolated", "invert": false)").empty());
    CHECK(split(R"("pattern": {"String": "("}, "behavior": "Isolated", "invert": false)").empty());
    CHECK(split(R"("pattern": {"Regex": "a+"}, "behavior": "MergedWithNext", "invert": false)").empty());
    CHECK(split(R"("pattern": {"Regex": "a+"}, "behavior": "Removed", "invert": false)").empty());
    CHECK_THAT(split(R"("pattern": {"Regex": "a+"}, "behavior": "Dropped")"), contains("\"Dropped\""));
    CHECK_THAT(split(R"("pattern": {"Regex": "\\w+"}, "behavior": "Isolated", "invert": false)"),
               contains("not supported"));
    CHECK_THAT(split(R"("pattern": {"Regex": "(("}, "behavior": "Isolated")"), contains("pattern"));
    CHECK_THAT(split(R"("pattern": {"Regex": "a*"}, "behavior": "Isolated")"), contains("can match the empty text"));
    CHECK_THAT(split(R"("pattern": {"Regex": ""}, "behavior": "Isolated")"), contains("empty pattern"));
    CHECK_THAT(split(R"("pattern": "a", "behavior": "Isolated")"), contains("pattern"));
    CHECK(steps(("[{\"type\": \"Digits\"}," + last).c_str()).empty());
    CHECK_THAT(steps(R"([{"type": "ByteLevel"}, {"type": "ByteLevel"}])"), contains("'ByteLevel' twice"));
    CHECK_THAT(steps(R"([{"type": "ByteLevel"}, {"type": "Metaspace", "replacement": "_"}])"),
               contains("both 'ByteLevel' and 'Metaspace'"));
    CHECK_THAT(steps(R"([{"type": "Metaspace", "replacement": "ab"}])"), contains("one character"));
    CHECK_THAT(steps("[]"), contains("without a ByteLevel pre_tokenizer"));
    CHECK_THAT(steps("7"), contains("list of pretokenizers"));
    CHECK_THAT(refusal([](json& j) { j["pre_tokenizer"]["use_regex"] = 1; }), contains("use_regex"));
}

TEST_CASE("BPE tokenizer.json: the settings of steps", "[data][bpe]") {
    const auto step = [](const char* text) {
        return refusal([&](json& j) {
            const json list = {json::parse(text), {{"type", "ByteLevel"}}};
            j["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", list}};
        });
    };
    CHECK(step(R"({"type": "Punctuation"})").empty());
    CHECK(step(R"({"type": "Punctuation", "behavior": "Contiguous"})").empty());
    CHECK_THAT(step(R"({"type": "Punctuation", "behavior": 1})"), contains("there is no behavior 1"));
    CHECK_THAT(step(R"({"type": "Split", "pattern": {"String": "a"}})"), contains("no behavior null"));
    const auto metaspace = [](const char* settings) {
        return refusal([&](json& j) {
            j["pre_tokenizer"] = json::parse(settings);
            j["pre_tokenizer"]["type"] = "Metaspace";
        });
    };
    CHECK_THAT(metaspace(R"({"replacement": ""})"), contains("replacement must be one character, got \"\""));
    CHECK_THAT(metaspace(R"({"replacement": 1})"), contains("replacement must be a text, got 1"));
    CHECK_THAT(metaspace(R"({"replacement": "_", "prepend_scheme": "last"})"),
               contains("there is no prepend_scheme \"last\""));
    CHECK_THAT(metaspace(R"({"replacement": "_", "prepend_scheme": 1})"), contains("no prepend_scheme 1"));
    CHECK_THAT(metaspace(R"({"replacement": "_", "prepend_scheme": "first", "add_prefix_space": false})"),
               contains("add_prefix_space and prepend_scheme disagree"));
    for (const char* same : {R"({"replacement": "_", "prepend_scheme": "never", "add_prefix_space": false})",
                             R"({"replacement": "_", "add_prefix_space": false})"})
        CHECK_THAT(metaspace(same), !contains("Metaspace"));
    const auto dropped = [](const json& normalizer, const char* scheme) {
        return refusal([&](json& j) {
            j["normalizer"] = normalizer;
            j["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", scheme}};
        });
    };
    const json drops = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", ""}};
    const json strips = {{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}};
    CHECK_THAT(dropped(drops, "first"), contains("may drop the beginning of a text"));
    CHECK_THAT(dropped(strips, "first"), contains("may drop the beginning of a text"));
    CHECK_THAT(dropped(drops, "always"), !contains("may drop the beginning"));
    CHECK_THAT(dropped({{"type", "Strip"}, {"strip_left", 1}}, "first"),
               contains("strip_left must be true or false, got 1"));
    const auto strip = [](const char* settings) {
        return refusal([&](json& j) {
            j["decoder"] = json::parse(settings);
            j["decoder"]["type"] = "Strip";
        });
    };
    CHECK_THAT(strip(R"({"content": " ", "start": -1, "stop": 0})"), contains("must be whole numbers"));
    CHECK_THAT(strip(R"({"content": " ", "start": 1})"), contains("must be whole numbers"));
    const std::string many = refusal([](json& j) {
        j["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::vector<json>(9, {{"type", "NFKC"}})}};
    });
    CHECK(std::count(many.begin(), many.end(), ';') == 7);  // a message names eight
}

TEST_CASE("BPE tokenizer.json: what stands before and behind a text", "[data][bpe]") {
    const auto with = [](const std::string& single, const char* marks = R"({"<a>": {"ids": [5]}})") {
        return refusal([&](json& j) {
            j["post_processor"] = {{"type", "TemplateProcessing"},
                                   {"single", json::parse(single)},
                                   {"special_tokens", json::parse(marks)}};
        });
    };
    const std::string text = R"({"Sequence": {"id": "A"}})", mark = R"({"SpecialToken": {"id": "<a>"}})";
    CHECK(with("[" + mark + "," + text + "]").empty());
    CHECK(with("[" + text + "," + mark + "]").empty());
    for (const std::string& bad : {"[" + text + "," + text + "]", std::string(R"([{"Sequence": {"id": "B"}}])"),
                                   std::string(R"([{"SpecialToken": {"id": 1}}])"), std::string("[1]"),
                                   "[" + text + R"(,{"SpecialToken": {"id": "<b>"}}])"})
        CHECK_THAT(with(bad), contains("neither the text nor one of its special_tokens"));
    CHECK_THAT(with("[" + mark + "]"), contains("single has no place for the text"));
    std::string long_list = "[" + text;
    for (int i = 0; i < 32; ++i) long_list += "," + mark;
    CHECK_THAT(with(long_list + "]"), contains("a list of at most 32 parts"));
    const std::string both = "[" + mark + "," + text + "]";
    CHECK_THAT(with(both, R"({"<a>": {"ids": 5}})"), contains("ids of \"<a>\" must be a list"));
    const std::string ids = R"({"<a>": {"ids": )" + json(std::vector<int>(33, 5)).dump() + "}}";
    CHECK_THAT(with(both, ids.c_str()), contains("ids of \"<a>\" must be a list"));
    CHECK_THAT(with(both, R"({"<a>": {"ids": [-1]}})"), contains("\"<a>\" has the id -1"));
    CHECK_THAT(with(both, R"({"<a>": {"ids": [2147483647]}})"), contains("has the id 2147483647"));
}

TEST_CASE("BPE tokenizer.json: the model's settings", "[data][bpe]") {
    const auto with = [](const char* key, const json& value, bool all_bytes = true) {
        return refusal([&](json& j) {
            j["model"][key] = value;
            if (!all_bytes) j["model"]["vocab"].erase("~");
        });
    };
    CHECK_THAT(with("dropout", 0.1), contains("dropout"));
    CHECK(with("dropout", 0.0).empty());
    CHECK_THAT(with("continuing_subword_prefix", "##"), contains("continuing_subword_prefix"));
    CHECK(with("continuing_subword_prefix", "").empty());
    CHECK_THAT(with("end_of_word_suffix", "</w>"), contains("end_of_word_suffix"));
    CHECK(with("unk_token", "<|endoftext|>").empty());
    CHECK_THAT(with("unk_token", "<|endoftext|>", false), contains("255 of 256"));
    CHECK(with("byte_fallback", true).empty());
    CHECK_THAT(with("byte_fallback", true, false), contains("byte_fallback"));
    CHECK_THAT(with("ignore_merges", "yes"), contains("ignore_merges"));
    CHECK_THAT(refusal([](json& j) {
                   j["pre_tokenizer"] = nullptr, j["decoder"] = {{"type", "Fuse"}}, j["model"]["unk_token"] = 1;
               }),
               contains("model.unk_token must be a text, got 1"));
}

TEST_CASE("BPE tokenizer.json: ids and merges", "[data][bpe]") {
    const auto with_id = [](const json& id) { return refusal([&](json& j) { j["model"]["vocab"]["b"] = id; }); };
    for (const json& id :
         std::vector<json>{-1, 1.0, 1e2, "1", nullptr, 18446744073709551615ull, 2147483648ull, 2000000})
        CHECK_THAT(with_id(id), contains("whole numbers in [0, "));
    CHECK_THAT(with_id(5), contains("id 5 is used twice"));
    CHECK(with_id(1000).empty());  // gaps are no harm
    CHECK_THAT(refusal([](json& j) { j["model"]["vocab"][""] = 400; }), contains("empty token"));
    CHECK_THAT(refusal([](json& j) { j["model"]["vocab"] = json::object(); }), contains("vocabulary"));
    CHECK_THAT(refusal([](json& j) { j["model"]["vocab"] = 3; }), contains("vocabulary"));
    const auto with = [](const char* merges) {  // merges
        return refusal([&](json& j) { j["model"]["merges"] = json::parse(merges); });
    };
    CHECK(with("[]").empty());
    CHECK(with(R"([["n", "a"], ["n", "a"]])").empty());
    CHECK(with(R"(["n a"])").empty());
    CHECK(with(R"(["#version: 0.2", "n a"])").empty());
    CHECK_THAT(with(R"([["a", "~~"]])"), contains("\"~~\", which is not in the vocabulary"));
    CHECK_THAT(with(R"([["~", "~"]])"), contains("\"~~\", which is not in the vocabulary"));
    for (const char* bad :
         {"null", "{}", "[1]", "[[]]", R"([["a"]])", R"([["a", "b", "c"]])", R"([["a", 1]])", R"(["ab"])",
          R"(["a b c"])", R"([""])", R"(["a b", ["a", "b"]])", R"([["a", "b"], "a b"])"}) {
        INFO(bad);
        CHECK_FALSE(with(bad).empty());
    }
}

TEST_CASE("BPE tokenizer.json: added tokens", "[data][bpe]") {
    const auto with = [](const json& token) { return refusal([&](json& j) { j["added_tokens"].push_back(token); }); };
    CHECK(with(added("<a>", 400)).empty());
    CHECK(with(added("b", small_tokenizer().encode("b")[0])).empty());
    CHECK_THAT(with(added("<a>", 401)), contains("its id is 401, the tokenizers library would give it 400"));
    CHECK_THAT(with(added("b", 400)), contains("its id is 400"));
    CHECK_THAT(with(added("<a>", -1)), contains("whole numbers"));
    CHECK_THAT(with(added("", 400)), contains("content"));
    CHECK_THAT(with(added("<|endoftext|>", 0)), contains("twice"));
    CHECK_THAT(with(added(std::string(1001, 'x').c_str(), 400)), contains("1000 bytes"));
    for (const json& bad : std::vector<json>{1, nullptr, json::array(), {{"id", 400}}, {{"content", "<a>"}}})
        CHECK_FALSE(with(bad).empty());
    json token = added("<a>", 400);
    for (const char* flag : {"special", "lstrip", "rstrip", "single_word", "normalized"}) {
        token[flag] = 1;
        CHECK_THAT(with(token), contains(flag));
        token.erase(flag);
    }
    CHECK_THAT(refusal([](json& j) { j["added_tokens"] = 7; }), contains("added_tokens must be a list, got 7"));
    CHECK(refusal([](json& j) { j.erase("added_tokens"); }).empty());
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
    for (int i = 0; i < 30'000; ++i) many["added_tokens"].push_back(added(fmt::format("<{}>", i).c_str(), 400 + i));
    CHECK(message(many.dump()).empty());
    json same = whole();  // all begin alike
    for (int i = 1; i < 500; ++i) same["added_tokens"].push_back(added(std::string(500 + i, 'a').c_str(), 399 + i));
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
    CHECK(t->end_of_text() == 3);
    CHECK(parse_tokenizer(t->to_json(), "t")->encode("abba") == t->encode("abba"));
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
