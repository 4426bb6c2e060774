// tokenizer.json of byte-level BPE: errors name the cause in one line.
#include "data/tokenizers/json/bpe_json.h"

#include "tests/data/tokenizers/bpe_reference.h"
#include "tests/support/json_changes.h"

static json changes(const char* name) { return json_in(tests_path("data/tokenizers/bpe_changes.json"))[name]; }
static json whole() { return bpe_reference()["tokenizer"]; }

// The error message for a file; "" if it is read.
static std::string message(const std::string& text) {
    const std::string what = error_of([&] { parse_tokenizer(text, "tokenizer.json"); });
    CHECK_ALL((what.empty() || what.starts_with("tokenizer.json: ")), what.find('\n') == std::string::npos);
    CHECK(what.size() < 400);
    return what;
}
static std::string refusal(const json& file) { return message(file.dump()); }

static json added(const std::string& content, int id) { return {{"id", id}, {"content", content}}; }

TEST_CASE("BPE tokenizer.json: written and read again, other kinds and settings refused by name", "[data][bpe]") {
    CHECK(refusal(whole()).empty());
    const BpeTokenizer& t = small_tokenizer();
    const auto again = parse_tokenizer(t.to_json(), "t");
    CHECK_ALL(dynamic_cast<const BpeTokenizer&>(*again).spec() == t.spec(), again->to_json() == t.to_json());
    const json written = json::parse(t.to_json()), read = whole();
    for (const char* key : {"vocab", "merges", "type"}) CHECK(written["model"][key] == read["model"][key]);
    CHECK(written["added_tokens"] == read["added_tokens"]);
    check_changes(whole(), refusal, changes("kinds"));
    json no_tilde = whole();
    no_tilde["model"]["vocab"].erase("~");
    check_changes(no_tilde, refusal, changes("no tilde"));
    const std::vector<json> nine(9, {{"type", "NFKC"}});
    json many = whole();
    many["normalizer"] = {{"type", "Sequence"}, {"normalizers", nine}};
    const std::string said = refusal(many);
    CHECK(std::count(said.begin(), said.end(), ';') == 7);  // a message names eight
}

TEST_CASE("BPE tokenizer.json: steps that take for ever, and settings of those before ByteLevel", "[data][bpe]") {
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
    json file = whole();
    file["pre_tokenizer"] = json::parse(R"json({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "a+"}, "behavior": "Isolated", "invert": false},
        {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]})json");
    check_changes(file, refusal, changes("splits"));
    file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "_"}};
    check_changes(file, refusal, changes("metaspace"));
    file["pre_tokenizer"]["add_prefix_space"] = false;
    CHECK_THAT(refusal(file), !contains("Metaspace"));
    file["pre_tokenizer"]["prepend_scheme"] = "never";
    CHECK_THAT(refusal(file), !contains("Metaspace"));
    file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "always"}};
    file["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", ""}};
    CHECK_THAT(refusal(file), !contains("may drop the beginning"));
}

TEST_CASE("BPE tokenizer.json: what stands around a text, ids, merges and added tokens", "[data][bpe]") {
    json file = whole();
    file["post_processor"] = json::parse(R"json({"type": "TemplateProcessing", "special_tokens": {"<a>": {"ids": [5]}},
        "single": [{"SpecialToken": {"id": "<a>"}}, {"Sequence": {"id": "A"}}]})json");
    check_changes(file, refusal, changes("template"));
    json long_list = file, long_ids = file;
    for (int i = 0; i < 31; ++i) long_list["post_processor"]["single"].push_back(file["post_processor"]["single"][0]);
    CHECK_THAT(refusal(long_list), contains("a list of at most 32 parts"));
    long_ids["post_processor"]["special_tokens"]["<a>"]["ids"] = std::vector<int>(33, 5);
    CHECK_THAT(refusal(long_ids), contains("ids of \"<a>\" must be a list"));
    check_changes(whole(), refusal, changes("ids"));
    const auto with = [](const char* path, const json& value) {
        json changed = whole();
        changed[json::json_pointer(path)] = value;
        return refusal(changed);
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
