#include "data/tokenizers/json/tokenizer_json.h"

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/char_tokenizer.h"

TEST_CASE("tokenizer.json: characters with the same ids, and parts without a type", "[data]") {
    const testing::ScratchFolder folder;
    const auto made =
        CharTokenizer::from_text(std::string("a\0b\"\\\n\t\x7F \xC3\xA9\xE2\x80\xA8\xF0\x9F\x90\x8C", 19));
    const auto read = load_tokenizer(folder.write("tokenizer.json", made.to_json()));
    CHECK_ALL(read->kind() == TokenizerKind::characters, read->vocab_size() == made.vocab_size());
    CHECK(read->to_json() == made.to_json());
    const std::string text = "ab\xF0\x9F\x90\x8C\n\"\\ \xC3\xA9";
    CHECK_ALL(read->encode(text) == made.encode(text), read->decode(read->encode(text)) == text);
    const auto t = parse_tokenizer(
        R"({"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":2,"b":0,"c":1},"merges":[]}})", "t");
    CHECK(t->encode("abc") == std::vector<std::int32_t>{2, 0, 1});
    CHECK(parse_tokenizer(t->to_json(), "t")->encode("abc") == std::vector<std::int32_t>{2, 0, 1});
    // as in tokenizers 0.23, which requires the type of other kinds
    json typed = json_in(tests_path("data/tokenizers/typed.json"));
    const auto spec = [](const json& j) {
        return dynamic_cast<const BpeTokenizer&>(*parse_tokenizer(j.dump(), "tokenizer.json")).spec();
    };
    const BpeSpec expected = spec(typed);
    CHECK_ALL(expected.normalizer.size() == 3, expected.decoder.size() == 3, expected.before.size() == 1);
    for (const char* part :
         {"/normalizer", "/normalizer/normalizers/0", "/normalizer/normalizers/1", "/normalizer/normalizers/2",
          "/post_processor", "/decoder/decoders/0", "/decoder/decoders/2", "/model"}) {
        INFO(part);
        json old = typed;
        old.at(json::json_pointer(part)).erase("type");
        CHECK(spec(old) == expected);
        old.at(json::json_pointer(part))["type"] = nullptr;  // which the library does not take for a missing one
        CHECK_THROWS_AS(spec(old), BadInput);
    }
    for (const char* part : {"/pre_tokenizer", "/decoder", "/decoder/decoders/1"}) {
        INFO(part);
        json old = typed;
        old.at(json::json_pointer(part)).erase("type");
        CHECK_THROWS_AS(spec(old), BadInput);
    }
    json words = typed;  // WordPiece and WordLevel have no merges
    words["model"] = {{"vocab", {{"a", 0}}}, {"unk_token", "a"}};
    CHECK_THROWS_AS(spec(words), BadInput);
}

TEST_CASE("tokenizer.json: files that hold no tokenizer, SentencePiece's alone, and deep nesting", "[data]") {
    const testing::ScratchFolder folder;
    folder.write("tokenizer.model", "x");
    CHECK_THROWS_WITH(load_tokenizer(folder.path()),
                      contains("holds tokenizer.model, which is not read", "AutoTokenizer"));
    const std::string_view bad =
        GENERATE(as<std::string_view>(), "", "{}", "[]", "7", "null", "{\"model\": 1}",
                 "{\"model\": {\"type\": \"BPE\"}}", "{\"model\": {\"type\": \"BPE\", \"vocab\": []}}",
                 "{\"model\": {\"type\": \"BPE\", \"vocab\": {}, \"merges\": []}}",
                 "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}}}", "{\"model\": {}, \"model\": {}}",
                 "version https://git-lfs");
    CHECK_THROWS_AS(parse_tokenizer(bad, "tokenizer.json"), BadInput);
    CHECK_THROWS_WITH(parse_tokenizer(bad, "tokenizer.json"), contains("tokenizer.json: "));
    CHECK_THROWS_AS(load_tokenizer(folder.path("tokenizer.json")), BadInput);  // a missing file and deep nesting
    CHECK_THROWS_WITH(parse_tokenizer(std::string(1'000'000, '['), "t"), contains("deeper than 128"));
    CHECK_THROWS_AS(load_tokenizer(folder.write("t.json", "{")), BadInput);
}

TEST_CASE("tokenizer.json: characters with byte fallback have the ids and texts of `tokenizers`", "[data]") {
    // made with transformers by tests/reference/make_char_reference.py
    const auto reference = json::parse(formats::read_file(inkling::testing::tests_path("reference/characters.json")));
    const auto text = reference["text"].get<std::string>();
    const auto made = CharTokenizer::from_texts(std::vector<std::string_view>{text}, ByteFallback::always);
    CHECK(json::parse(made.to_json()) == reference["tokenizer"]);
    const auto read = parse_tokenizer(reference["tokenizer"].dump(), "tokenizer.json");
    CHECK(read->to_json() == made.to_json());
    REQUIRE(reference["samples"].size() > 40);
    for (const json& sample : reference["samples"]) {
        CAPTURE(sample["text"]);
        CHECK(read->encode(sample["text"].get<std::string>()) == sample["ids"].get<std::vector<std::int32_t>>());
        CHECK(read->decode(sample["ids"].get<std::vector<std::int32_t>>()) == sample["text"].get<std::string>());
    }
    REQUIRE(reference["decoded"].size() > 4);
    for (const json& sample : reference["decoded"])
        CHECK(read->decode(sample["ids"].get<std::vector<std::int32_t>>()) == sample["text"].get<std::string>());
}

TEST_CASE("tokenizer.json: a character vocabulary with other settings is one of byte pairs without merges", "[data]") {
    const std::string text = "abc";
    const json plain = json::parse(CharTokenizer::from_text(text).to_json()),
               bytes = json::parse(
                   CharTokenizer::from_texts(std::vector<std::string_view>{text}, ByteFallback::always).to_json());
    const auto read = [](json j, const std::string& part, const std::string& value) {
        j[json::json_pointer(part)] = json::parse(value);
        return parse_tokenizer(j.dump(), "tokenizer.json");
    };
    const std::tuple<json, std::string, std::string> table[] = {
        {plain, "/normalizer", R"({"type": "NFC"})"},
        {plain, "/added_tokens", R"([{"id": 3, "content": "<a>"}])"},
        {plain, "/model/fuse_unk", "true"},
        {plain, "/model/byte_fallback", "true"},
        {plain, "/model/ignore_merges", "true"},
        {plain, "/model/unk_token", "\"a\""},
        {plain, "/model/vocab/ab", "3"},
        {plain, "/model/vocab/b", "9"},
        {bytes, "/decoder", R"({"type": "Fuse"})"},
        {bytes, "/decoder/decoders", R"([{"type": "Fuse"}, {"type": "ByteFallback"}])"},
        {bytes, "/model/byte_fallback", "false"},
        {bytes, "/model/vocab/<0xff>", "259"},
        {bytes, "/model/vocab/<0xFG>", "259"},
        {bytes, "/model/vocab/<0x-1>", "259"}};
    for (const auto& [file, part, value] : table) {
        INFO(part << " " << value);
        const auto t = read(file, part, value);
        CHECK_ALL(t->kind() == TokenizerKind::byte_pairs, t->encode("cab").size() == 3);
        CHECK(t->decode(t->encode("cab")) == "cab");
        CHECK(parse_tokenizer(t->to_json(), "t")->encode("cab") == t->encode("cab"));
    }
    for (const char* part : {"/truncation", "/padding"})
        CHECK(read(plain, part, R"({"max_length": 5})")->kind() == TokenizerKind::characters);
    const std::string text_alone =
        R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": []})";
    CHECK(read(plain, "/post_processor", text_alone)->kind() == TokenizerKind::characters);
    json no_bytes = bytes;
    no_bytes["model"]["vocab"].erase("<0xFF>");
    CHECK_THROWS_WITH(parse_tokenizer(no_bytes.dump(), "t"), contains("t: ", "256 bytes, got 255"));
    json no_list = plain;
    no_list.erase("added_tokens");
    CHECK_NOTHROW(parse_tokenizer(no_list.dump(), "t"));
}
