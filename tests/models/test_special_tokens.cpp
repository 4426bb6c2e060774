// The special tokens in the files of a model folder: in GGUF files against llama.cpp's gguf-py
// (tests/reference/make_special_tokens.py), and in written folders.
#include "models/files/special_tokens.h"

#include "data/tokenizers/bpe/bpe_train.h"
#include "models/files/chat_tokens.h"
#include "tests/models/folders.h"
#include "tests/support/gguf.h"

namespace {

using Ids = std::vector<std::int32_t>;

// A vocabulary of 300 followed by the reference's tokens; post-processing adds `before` and `after` to a text.
data::BpeSpec tokens_of_reference(const Ids& before = {}, const Ids& after = {}) {
    std::string text;
    for (char c = 'a'; c < 'z'; ++c) text += std::string(3, c) + " and " + c + "ab";
    const std::string_view part = text;
    data::BpeSpec spec = data::train_bpe(std::span(&part, 1), 300);
    spec.added.clear();
    spec.vocab[0] = "none";  // in place of the end of text, which is one of the names
    while (spec.vocab.size() < 300) spec.vocab.push_back(fmt::format("none {}", spec.vocab.size()));
    const auto names = reference("gguf/special_tokens.json")["tokens"].get<std::vector<std::string>>();
    for (std::size_t i = 0; i < names.size(); ++i)
        spec.added.push_back({.content = names[i], .id = static_cast<std::int32_t>(300 + i)});
    const auto special_tokens = [&](const Ids& ids) {
        std::vector<data::SpecialToken> all;
        for (const std::int32_t id : ids) all.push_back({names.at(static_cast<std::size_t>(id - 300)), {id}});
        return all;
    };
    spec.before = special_tokens(before), spec.after = special_tokens(after);
    return spec;
}

struct TokenFolder {
    ScratchFolder scratch;
    std::unique_ptr<data::Tokenizer> tokenizer;
    models::Architecture model;

    explicit TokenFolder(const json& files, const data::BpeSpec& spec = tokens_of_reference()) {
        scratch.write("tokenizer.json", data::BpeTokenizer(spec).to_json());
        for (const auto& [name, content] : files.items()) scratch.write(name, content.dump());
        tokenizer = models::open_tokenizer(scratch.path(""));
        model.vocab_size = 307;
        models::take_special_tokens(scratch.path(""), files.value("config.json", json::object()), model);
        models::read_named_tokens(scratch.path(""), *tokenizer, &model);
    }
    json gguf_keys() const {
        const Gguf file = gguf_of([&](auto& out) { models::set_gguf_special_tokens(out, *tokenizer, model); });
        json short_keys;
        for (const auto& [key, value] : file.pairs.items())
            short_keys[key.substr(sizeof("tokenizer.ggml.") - 1)] = value;
        return short_keys;
    }
};

}  // namespace

TEST_CASE("special tokens: GGUF's keys are those of gguf-py, each end one of llama.cpp's three", "[models]") {
    const auto all = reference("gguf/special_tokens.json");
    for (const auto& c : all["cases"]) {
        INFO(c["name"].get<std::string>());
        const TokenFolder folder(c["files"], tokens_of_reference(c["before"], c["after"]));
        json wanted = {{"add_bos_token", false}, {"add_eos_token", false}};  // where gguf-py writes neither
        for (const auto& [key, value] : c["keys"].items()) wanted[key.substr(sizeof("tokenizer.ggml.") - 1)] = value;
        CHECK(folder.gguf_keys() == wanted);
    }
    const json names = {{"eos_token", "<|done|>"}, {"bos_token", "<|begin|>"}};
    const auto ends = [&](const json& files) {  // each token that ends a text is one of llama.cpp's three ends
        const json of = TokenFolder(files).gguf_keys();
        return json({of.value("eos_token_id", -1), of.value("eot_token_id", -1), of.value("eom_token_id", -1)});
    };
    TokenFolder several(json{{"tokenizer_config.json", names}});
    several.model.end_tokens = {303, 302, 301, 300};
    const json keys = several.gguf_keys();
    check_holds(keys, "eos_token_id", 302, "eot_token_id", 303, "eom_token_id", 301);
    CHECK(ends({{"generation_config.json", {{"eos_token_id", 306}}}}) == json({306, -1, -1}));
    CHECK(ends({{"special_tokens_map.json", names}}) == json({302, -1, -1}));
    const std::string turns =
        "{% for m in messages %}<|turn|>{{ m['role'] }}: {{ m['content'] }}<|done|>{% endfor %}"
        "{% if add_generation_prompt %}<|turn|>assistant: {% endif %}";
    CHECK(ends({{"tokenizer_config.json", {{"eos_token", "<|endoftext|>"}, {"chat_template", turns}}}}) ==
          json({300, 302, -1}));
    data::BpeSpec none = tokens_of_reference();
    none.added.clear();
    CHECK_THROWS_WITH(TokenFolder(json::object(), none).gguf_keys(), contains("no token ends a text", "eos_token"));
}

TEST_CASE("special tokens: ids of config.json or of the tokenizer's names, which are saved again", "[models]") {
    const auto table = json_in(tests_path("models/special_tokens.json"));
    for (const json& row : table) {  // files, the token that begins a text, those that end one
        INFO(row);
        const TokenFolder folder(row[0]);
        CHECK_ALL(folder.model.begin_token == row[1], folder.model.end_tokens == row[2].get<Ids>());
    }
    const json names = {{"bos_token", "<|begin|>"},
                        {"eos_token", "<|done|>"},
                        {"pad_token", "<|pad|>"},
                        {"unk_token", "<|none|>"},
                        {"add_bos_token", true}};
    const TokenFolder folder(json{{"tokenizer_config.json", names}});
    CHECK_ALL(folder.model.begin_token == 301, folder.model.end_tokens == Ids{302});
    CHECK(folder.tokenizer->end_of_text() == 300);  // the name that is known
    models::save_tokenizer(folder.scratch.path(""), folder.model, *folder.tokenizer);
    const auto saved = [&] { return json::parse(formats::read_file(folder.scratch.path("tokenizer_config.json"))); };
    for (const auto& [key, value] : names.items()) CHECK(saved()[key] == value);
    data::BpeSpec own = tokens_of_reference();
    own.added.erase(own.added.begin());  // no name that is known: that of the folder
    for (data::AddedToken& token : own.added) --token.id;
    CHECK(TokenFolder({{"tokenizer_config.json", names}}, own).tokenizer->end_of_text() == 301);

    models::LoadedModel loaded{nullptr, models::open_tokenizer(folder.scratch.path(""))};
    models::add_chat_tokens(loaded);
    CHECK(models::named_tokens(*loaded.tokenizer).at("pad") == 304);
    models::save_tokenizer(folder.scratch.path(""), folder.model, *loaded.tokenizer);
    check_holds(saved(), "eos_token", "<|im_end|>", "pad_token", "<|pad|>");
}
