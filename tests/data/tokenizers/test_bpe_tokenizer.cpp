#include "data/tokenizers/bpe/bpe_tokenizer.h"

#include "data/tokenizers/bpe/bpe_train.h"
#include "tests/data/shakespeare.h"
#include "tests/data/tokenizers/bpe_reference.h"

TEST_CASE("BPE: the ids of the tokenizers library, and of tiny Shakespeare", "[data][bpe]") {
    const BpeTokenizer& t = small_tokenizer();
    CHECK_ALL(t.kind() == TokenizerKind::byte_pairs, t.vocab_size() == 400, t.end_of_text() == 0);
    for (const json& sample : bpe_reference()["samples"]) {
        const auto text = sample["text"].get<std::string>();
        INFO(json(text).dump());
        CHECK_ALL(t.encode(text) == ids_of(sample["ids"]), t.decode(t.encode(text)) == text);
    }
    const Tokenizer& gpt2 = gpt2_tokenizer();  // tiny Shakespeare by GPT-2's vocabulary
    const std::string text = shakespeare();
    const auto ids = gpt2.encode(text);
    CHECK(ids.size() == bpe_reference()["shakespeare"]["gpt2_count"]);
    CHECK(std::to_string(fnv(ids)) == bpe_reference()["shakespeare"]["gpt2_fnv"].get<std::string>());
    CHECK(gpt2.decode(ids) == text);
}

TEST_CASE("BPE: every setting of tokenizer.json does what it does in the library", "[data][bpe]") {
    const json& whole = bpe_reference()["tokenizer"];
    std::size_t that_differ = 0;
    for (const json& variant : bpe_reference()["variants"]) {
        json changed = whole;
        for (const auto& [key, value] : variant["patch"].items()) {
            if (key == "model")
                changed[key].update(value);
            else
                changed[key] = value;
        }
        const auto read = parse_tokenizer(changed.dump(), "t");
        const auto written = parse_tokenizer(read->to_json(), "t");
        CHECK(written->to_json() == read->to_json());
        bool differs = false;
        for (const json& sample : variant["samples"]) {
            const auto text = sample["text"].get<std::string>();
            INFO(variant["name"] << " " << json(text).dump());
            CHECK_ALL(read->encode(text) == ids_of(sample["ids"]), written->encode(text) == ids_of(sample["ids"]));
            differs = differs || small_tokenizer().encode(text) != ids_of(sample["ids"]);
        }
        that_differ += differs;
        CHECK((differs || variant["name"] == "string_merges"));
    }
    CHECK(that_differ + 1 == bpe_reference()["variants"].size());
}

TEST_CASE("BPE: GPT-2's vocabulary gives GPT-2's ids", "[data][bpe][unsanitized]") {
    const Tokenizer& t = gpt2_tokenizer();
    CHECK_ALL(t.vocab_size() == 50257, t.end_of_text() == 50256);
    CHECK(t.encode("Hello world!") == std::vector<std::int32_t>{15496, 995, 0});
    const json& samples = bpe_reference()["samples"];
    const auto again = parse_tokenizer(t.to_json(), "t");
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const auto text = samples[i]["text"].get<std::string>();
        INFO(json(text).dump());
        CHECK(t.encode(text) == ids_of(bpe_reference()["gpt2"][i]));
        CHECK_ALL(again->encode(text) == ids_of(bpe_reference()["gpt2"][i]), t.decode(t.encode(text)) == text);
    }
}

// Checks 100,000 texts with letters of 24 scripts, emoji, combining marks, tabs, line ends and any other character;
// `hashes` has one hash per thousand texts.
static void check_random_texts(const Tokenizer& t, const json& hashes) {
    ReferenceTexts texts;
    for (std::size_t thousand = 0; thousand < 100; ++thousand) {
        std::uint64_t hash = fnv({});
        for (int i = 0; i < 1000; ++i) {
            const std::string text = texts.next();
            const auto size = static_cast<std::int32_t>(text.size());
            const auto ids = t.encode(text);
            hash = fnv(ids, fnv({&size, 1}, hash));
            if (t.decode(ids) != text) FAIL("does not come back: " << json(text).dump());
        }
        INFO("texts " << 1000 * thousand << " to " << 1000 * thousand + 999);
        CHECK(std::to_string(hash) == hashes[thousand].get<std::string>());
    }
}

TEST_CASE("BPE: random texts in many scripts have the ids of the tokenizers library, and come back", "[data][bpe]") {
    check_random_texts(small_tokenizer(), bpe_reference()["random_texts"]["trained"]);
}

TEST_CASE("BPE: random texts in many scripts have GPT-2's ids, and come back", "[data][bpe][unsanitized]") {
    check_random_texts(gpt2_tokenizer(), bpe_reference()["random_texts"]["gpt2"]);
}

TEST_CASE("BPE: all bytes come back, of more pieces than are kept, and ids that are none do not", "[data][bpe]") {
    Random random(5);
    const BpeTokenizer& t = small_tokenizer();
    for (int i = 0; i < 2000; ++i) {
        std::string bytes = random_bytes(random, below(random, 40));
        if (i % 2) bytes += random_text(random, 20) + "<|endoftext|>" + random_bytes(random, 3) + " a";
        REQUIRE(t.decode(t.encode(bytes)) == bytes);
    }
    const std::string large = random_bytes(random, 1 << 20);
    CHECK(t.decode(t.encode(large)) == large);
    std::string text;
    for (int i = 0; i < 300'000; ++i) text += fmt::format(" {}", i);  // more different pieces than are kept
    CHECK(small_tokenizer().decode(small_tokenizer().encode(text)) == text);
    for (const std::int32_t id : {-1, 400, 2147483647})
        CHECK_THROWS_WITH(t.decode(std::span(&id, 1)), contains("token ids must be in [0, 400), got"));
    CHECK(t.decode({}) == "");  // ids that are none
}

TEST_CASE("BPE: a large text has the same ids whole, in parts, and with any threads", "[data][bpe][unsanitized]") {
    Random random(13);
    std::string text, letters(3'000'000, 'a');
    for (char& c : letters) c = static_cast<char>('a' + below(random, 4));
    while (text.size() < 3'000'000) text += random_text(random, 20) + " bananas baked it's <|endoftext|>";
    json file = bpe_reference()["tokenizer"];
    file["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"Regex", R"(\p{N}|\p{L}+)"}}}, {"behavior", "Isolated"}, {"invert", false}},
          {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", false}}}}};
    const auto split = parse_tokenizer(file.dump(), "t");
    const int threads = omp_get_max_threads();
    for (const Tokenizer* const t : std::initializer_list<const Tokenizer*>{&small_tokenizer(), split.get()})
        for (const std::string& whole : {text, letters, letters + " " + text, std::string()}) {
            omp_set_num_threads(1);
            const auto ids = t->encode(whole);
            omp_set_num_threads(4);
            CHECK(t->encode(whole) == ids);
            omp_set_num_threads(threads);
            CHECK(ids_in_parts(*t, whole) == ids);
            if (t == split.get()) continue;
            CHECK(t->decode(ids) == whole);
            std::vector<std::int32_t> piecewise;
            for (std::string_view left = whole; !left.empty();) {
                const std::size_t end = gpt2_safe_cut(left, std::min<std::size_t>(5000, left.size()));
                for (const auto id : t->encode(left.substr(0, end))) piecewise.push_back(id);
                left.remove_prefix(end);
            }
            CHECK(piecewise == ids);
        }
}

TEST_CASE("BPE: a file without a byte refuses that byte alone", "[data][bpe]") {
    json file = bpe_reference()["tokenizer"];
    file["model"]["vocab"].erase("z");
    file["model"]["merges"] = json::array();
    const auto t = parse_tokenizer(file.dump(), "t");
    CHECK(t->decode(t->encode("abc")) == "abc");
    CHECK_THROWS_WITH(t->encode("a z"), "the byte 0x7A is not in the vocabulary");
    CHECK_THROWS_AS(t->encode(std::string(100, 'a') + "z"), BadInput);
    t->origin = "t.json";
    CHECK_THROWS_WITH(t->encode("a z"), "t.json: the byte 0x7A is not in the vocabulary");
}
