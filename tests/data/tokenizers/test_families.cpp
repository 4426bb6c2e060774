// Tokenizers of the kinds that Llama, Qwen, SmolLM, Pythia, DeepSeek, Falcon, TinyLlama, Mistral and Gemma have,
// against the `tokenizers` library (tests/reference/make_tokenizer_reference.py).
#include "data/dataset.h"
#include "data/tokenizers/bpe/bpe_train.h"
#include "data/tokenizers/nfc.h"
#include "tests/data/corpus.h"
#include "tests/data/tokenizers/bpe_reference.h"

static const json& families() {
    static const json all = reference("tokenizers.json");
    return all;
}

static std::unique_ptr<Tokenizer> tokenizer_of(const std::string& name) {
    return parse_tokenizer(families()["tokenizers"][name]["tokenizer"].dump(), name);
}

static std::uint64_t fnv_of(std::string_view bytes, std::uint64_t hash = fnv({})) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return hash;
}

// The hash of all characters for which `is_member` holds, in the order of code points.
template <class IsMember>
static std::string members(const IsMember& is_member) {
    std::uint64_t hash = fnv({});
    for (char32_t c = 0; c < 0x110000; ++c) {
        std::string text;
        if (c < 0xD800 || c > 0xDFFF) append_utf8(text, c);
        const auto id = static_cast<std::int32_t>(c);
        if (!text.empty() && is_member(text)) hash = fnv({&id, 1}, hash);
    }
    return std::to_string(hash);
}

static std::size_t count_pieces(const PreTokenizer& pre, const std::string& text) {
    std::size_t count = 0;
    PreTokenizer::Scan(pre).pieces(text, true, [&](std::string_view) { ++count; });
    return count;
}

TEST_CASE("tokenizers of families: ids and texts of the tokenizers library", "[data][bpe]") {
    REQUIRE(families()["tokenizers"].size() == 14);
    std::size_t plain = 0;
    for (const auto& [name, entry] : families()["tokenizers"].items()) {
        const auto t = tokenizer_of(name), again = parse_tokenizer(t->to_json(), name);
        CHECK(again->to_json() == t->to_json());
        for (const json& sample : entry["samples"]) {
            const auto text = sample["text"].get<std::string>();
            const auto ids = ids_of(sample["ids"]);
            INFO(name << " " << json(text).dump());
            CHECK_ALL(t->encode(text) == ids, again->encode(text) == ids);
            CHECK(t->decode(ids) == sample["decoded"].get<std::string>());
            CHECK(again->decode(ids) == sample["decoded"].get<std::string>());
            CHECK(t->encode_plain(text) == ids_of(sample.value("plain", sample["ids"])));
            plain += sample.contains("plain");
        }
        std::vector<std::int32_t> marked = t->tokens_before();
        for (const std::int32_t id : t->encode("ab")) marked.push_back(id);
        for (const std::int32_t id : t->tokens_after()) marked.push_back(id);
        INFO(name);
        CHECK_ALL(marked == ids_of(entry["marked"]), again->tokens_before() == t->tokens_before());
        CHECK(again->tokens_after() == t->tokens_after());
    }
    CHECK(plain >= 10);  // a text that spells a special token need not have it
}

TEST_CASE("tokenizers of families: documents of a corpus stand between the marks of a text", "[data][bpe]") {
    std::size_t marked = 0;
    for (const auto& [name, entry] : families()["tokenizers"].items()) {
        INFO(name);
        const auto t = tokenizer_of(name);
        const auto before = t->tokens_before(), after = t->tokens_after(), text = t->encode("ab");
        std::vector<std::int32_t> expected;
        const auto add = [&](const std::vector<std::int32_t>& ids) {
            expected.insert(expected.end(), ids.begin(), ids.end());
        };
        for (const int document : {0, 1}) {
            if (document == 1 && after.empty() && t->end_of_text()) expected.push_back(*t->end_of_text());
            if (document == 1 && before.empty() && after.empty() && !t->end_of_text()) add(t->encode("\n"));
            add(before), add(text), add(after);
        }
        const Dataset dataset = make_dataset(corpus_of({"ab", "ab"}), *t);
        CHECK(dataset.ids.copy() == expected);
        if (before.empty()) continue;
        ++marked;
        CHECK_ALL(dataset.ids[0] == before[0], dataset.bytes == 4);
    }
    CHECK(marked >= 2);
}

// Compares `parts` tens of thousands of the 100,000 random texts.
void check_random_texts(const std::string& name, std::size_t parts) {
    const json& expected = families()["tokenizers"][name]["random_texts"];
    REQUIRE(expected.size() == 10);
    const auto t = tokenizer_of(name);
    ReferenceTexts texts;
    for (std::size_t part = 0; part < parts; ++part) {
        std::uint64_t hash = fnv({});
        for (int i = 0; i < 10'000; ++i) {
            const auto ids = t->encode(texts.next());
            hash = fnv_of(t->decode(ids), fnv(ids, hash));
        }
        INFO(name << ", texts from " << 10'000 * part);
        CHECK(std::to_string(hash) == expected[part].get<std::string>());
    }
}

TEST_CASE("tokenizers of families: random texts are as in the tokenizers library", "[data][bpe][unsanitized]") {
    for (const auto& [name, entry] : families()["tokenizers"].items()) check_random_texts(name, 2);
}

TEST_CASE("tokenizers of families: all of the 100,000 random texts", "[data][bpe][slow]") {
    for (const auto& [name, entry] : families()["tokenizers"].items()) check_random_texts(name, 10);
}

TEST_CASE("tokenizers of families: every character is that of the tokenizers library", "[data][bpe][unsanitized]") {
    const json& expected = families()["every_character"];
    using Kind = SplitStep::Kind;
    const auto splitter = [](Kind kind, SplitBehavior behavior = SplitBehavior::removed, bool invert = false) {
        return PreTokenizerSpec{{SplitStep{.kind = kind, .behavior = behavior, .invert = invert}}};
    };
    const PreTokenizer digits(splitter(Kind::digits, SplitBehavior::isolated)),
        punctuation(splitter(Kind::punctuation)), words(splitter(Kind::words, SplitBehavior::removed, true)),
        spaces(splitter(Kind::spaces));
    const AddedTokens alone({{.content = "a", .single_word = true}});
    const auto is_word = [&](const std::string& c) {  // it keeps the token from standing alone
        bool found = false;
        alone.cut("a" + c, [&](std::string_view, std::int32_t id) { found = found || id == 0; });
        return !found;
    };
    const std::pair<const char*, std::function<bool(const std::string&)>> classes[] = {
        {"punctuation", [&](const std::string& c) { return count_pieces(punctuation, c) == 0; }},
        {"digits", [&](const std::string& c) { return count_pieces(digits, "a" + c) == 2; }},
        {"words", [&](const std::string& c) { return is_word(c) && count_pieces(words, "a" + c) == 1; }},
        {"spaces",
         [&](const std::string& c) { return is_white_space(to_code_points(c)[0]) && count_pieces(spaces, c) == 0; }}};
    for (const auto& [name, is_member] : classes) WITH_INFO(name, CHECK(expected[name] == members(is_member)));
    std::string lower, normal;
    for (char32_t c = 0; c < 0x110000; ++c) {
        std::string text;
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        append_utf8(text, c);
        lower += to_lowercase(text);
        normal += to_nfc("x\u0327" + text + "\u0301" + text + "\u0300a\u0345" + text + "\u0334e");
    }
    CHECK(expected["lowercase"] == std::to_string(fnv_of(lower)));
    CHECK(expected["nfc"] == std::to_string(fnv_of(normal)));
}

TEST_CASE("tokenizers of families: a large text has its parts' ids, with any threads", "[data][bpe][unsanitized]") {
    std::string text;
    Random random(21);
    while (text.size() < 700'000) text += random_text(random, 30) + " bananas baked e\u0301t\u00E9 it's <|endoftext|> ";
    for (const char* name : {"llama3", "qwen2", "smollm", "falcon", "tinyllama", "gemma"}) {
        INFO(name);
        const auto t = tokenizer_of(name);
        const std::vector<std::int32_t> ids = ids_in_parts(*t, text);
        const bool of_words = std::string(name) != "tinyllama" && std::string(name) != "gemma";
        std::vector<std::int32_t> piecewise;
        for (std::string_view left = text; !left.empty();) {
            const std::size_t size = of_words ? gpt2_safe_cut(left, 50'000) : left.size();
            for (const auto id : t->encode(left.substr(0, size))) piecewise.push_back(id);
            left.remove_prefix(size);
        }
        CHECK(piecewise == ids);
        std::string more;
        for (std::size_t at = 0; at < ids.size(); at += 1000)
            more += t->decode_more(std::span(ids).subspan(at, std::min<std::size_t>(1000, ids.size() - at)));
        CHECK(more == t->decode_more(ids));
    }
}

TEST_CASE("tokenizers of families: a large text is not cut within an added token or its space", "[data][bpe]") {
    const auto plain = tokenizer_of("qwen2");
    const auto id = static_cast<std::int32_t>(plain->vocab_size());
    const std::pair<AddedToken, std::string> table[] = {{{.content = "two words", .id = id}, "atwo words"},
                                                        {{.content = "x", .id = id, .rstrip = true}, "ab x  "}};
    for (const auto& [token, unit] : table) {
        BpeSpec spec = dynamic_cast<const BpeTokenizer&>(*plain).spec();
        spec.added.push_back(token);
        const BpeTokenizer t(spec);
        std::string text;
        std::vector<std::int32_t> expected;
        for (const auto ids = t.encode(unit); text.size() < 600'000; text += unit)
            expected.insert(expected.end(), ids.begin(), ids.end());
        CHECK_ALL(std::count(expected.begin(), expected.end(), id) >= 60'000, t.encode(text) == expected);
    }
}

TEST_CASE("tokenizers of families: a text of characters without spaces takes a moment", "[data][bpe][unsanitized]") {
    const auto t = tokenizer_of("tinyllama");
    for (const std::string unit : {"a", "ab", "\u65E5\u672C", " ", "\xFF", "\U0001F600"}) {
        std::string text;
        while (text.size() < 300'000) text += unit;
        CHECK(t->decode(t->encode(text)) == text);
    }
}

TEST_CASE("tokenizers of families: unknown ones, and ends of a text", "[data][bpe]") {
    json file = families()["tokenizers"]["signs"]["tokenizer"];
    CHECK(parse_tokenizer(file.dump(), "t")->encode("\u4E00").back() == 0);  // <unk>
    file["model"]["unk_token"] = nullptr;
    CHECK_THROWS_WITH(parse_tokenizer(file.dump(), "t")->encode("\u4E00"),
                      contains("the character '\u4E00' is not in the vocabulary"));
    file["model"]["unk_token"] = "<none>";
    CHECK_THROWS_WITH(parse_tokenizer(file.dump(), "t"), contains("t: model.unk_token is not in the vocabulary"));
    const std::pair<const char*, const char*> ends[] = {
        {"llama3", "<|end_of_text|>"}, {"qwen2", "<|endoftext|>"}, {"tinyllama", "</s>"}, {"gemma", "<eos>"}};
    for (const auto& [name, end] : ends) {
        const auto t = tokenizer_of(name);
        REQUIRE(t->end_of_text().has_value());
        const std::int32_t id = *t->end_of_text();
        CHECK(t->decode_more(std::span(&id, 1)) == end);
    }
    CHECK_FALSE(tokenizer_of("words")->end_of_text());
}

TEST_CASE("BPE training: with the pattern of each family, as the tokenizers library", "[data][bpe]") {
    const auto texts = families()["texts"].get<std::vector<std::string>>();
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    for (const SplitStyle style : {SplitStyle::llama3, SplitStyle::qwen2, SplitStyle::nanochat}) {
        const json& expected = families()["trained"][name_of(style)];
        const BpeTokenizer t(train_bpe(views, 500, style));
        const json made = json::parse(t.to_json());
        INFO(name_of(style));
        CHECK(made["model"]["merges"] == expected["merges"]);
        std::string vocab;
        for (std::size_t id = 0; id < t.spec().vocab.size(); ++id)
            vocab += fmt::format("{} {} ", t.spec().vocab[id], id);
        CHECK(std::to_string(fnv_of(vocab)) == expected["vocab_fnv"].get<std::string>());
        CHECK(made["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] != json());
        CHECK(parse_tokenizer(t.to_json(), "t")->encode(texts[0]) == t.encode(texts[0]));
        for (const std::string& text : texts) CHECK(t.decode(t.encode(text)) == text);
    }
    CHECK(families()["trained"]["llama3"] != families()["trained"]["qwen2"]);
}
