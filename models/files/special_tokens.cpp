#include "models/files/special_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "data/chat/chat_template.h"
#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "models/files/gguf/gguf_tokens.h"

namespace inkling::models {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// An object; an empty one where there is no such file.
json read_object(const fs::path& path) {
    json j = formats::is_there(path) ? read_json(path) : json::object();
    return j.is_object() ? j : json::object();
}

// Reads one id or several; skips ids outside of the vocabulary.
std::vector<std::int32_t> ids_at(const json& file, const std::string& key, std::size_t vocab_size) {
    const json value = file.value(key, json());
    std::vector<std::int32_t> known;
    for (const json& id : value.is_array() ? value : json::array({value}))
        if (id.is_number_unsigned() && id.get<std::uint64_t>() < vocab_size) known.push_back(id);
    return known;
}

// The id of a text that is one token.
std::optional<std::int32_t> id_of(const data::Tokenizer& tokenizer, const std::string& text) {
    if (text.empty() || !tokenizer.knows(text)) return std::nullopt;
    const std::vector<std::int32_t> ids = tokenizer.encode(text);
    return ids.size() == 1 ? std::optional(ids[0]) : std::nullopt;
}

// From the chat template. A template that is unusable here is left to llama.cpp.
std::optional<std::int32_t> end_of_turn(const data::Tokenizer& tokenizer) {
    try {
        if (tokenizer.chat) return data::ChatTemplate::of(tokenizer).end_of_turn();
    } catch (const BadInput&) {
    }
    return std::nullopt;
}

}  // namespace

json read_json(const fs::path& path) {
    return formats::parse_json(formats::read_file(path, formats::FileKind::json), path.string(), 64);
}

void take_special_tokens(const fs::path& folder, const json& config_json, Architecture& config) {
    for (const json& j : {read_object(folder / "generation_config.json"), config_json}) {
        const auto ids = [&](const char* key) { return ids_at(j, key, config.vocab_size); };
        if (const auto begin = ids("bos_token_id"); !begin.empty()) config.begin_token = begin[0];
        for (const std::int32_t end : ids("eos_token_id"))
            if (!std::count(config.end_tokens.begin(), config.end_tokens.end(), end)) config.end_tokens.push_back(end);
    }
}

data::NamedTokens read_named_tokens(const fs::path& folder, const data::Tokenizer& tokenizer, Architecture* config) {
    const json by_text[] = {read_object(folder / "tokenizer_config.json"),
                            read_object(folder / "special_tokens_map.json")};
    const json by_id[] = {read_object(folder / "config.json"), read_object(folder / "generation_config.json")};
    data::NamedTokens named;
    for (const auto& [name, gguf_name] : kGgufTokenNames) {
        const auto take = [&](std::optional<std::int32_t> id) {
            if (id) named.ids.emplace(name, *id);
        };
        const std::string key = std::string(name) + "_token";
        for (const json& file : by_text) {
            const json value = file.value(key, json());
            const json text = value.is_object() ? value.value("content", json()) : value;
            if (text.is_string()) take(id_of(tokenizer, text.get<std::string>()));
        }
        for (const json& file : by_id) {
            const std::vector<std::int32_t> ids = ids_at(file, key + "_id", tokenizer.vocab_size());
            if (!ids.empty()) take(ids[0]);
        }
        if (const json flag = by_text[0].value("add_" + key, json()); flag.is_boolean()) named.added[name] = flag;
        const bool has_id = by_id[0].contains(key + "_id") || by_id[1].contains(key + "_id");
        const auto found = named.ids.find(name);
        if (!config || has_id || found == named.ids.end()) continue;
        if (found->first == "bos") config->begin_token = found->second, config->has_bos = true;
        if (found->first == "eos") config->end_tokens = {found->second};
    }
    return named;
}

std::map<std::string, std::int32_t> named_tokens(const data::Tokenizer& tokenizer) {
    std::map<std::string, std::int32_t> ids;
    if (tokenizer.chat) {
        for (const auto& [name, gguf_name] : kGgufTokenNames) {
            const auto mark = tokenizer.chat->special_tokens.find(std::string(name) + "_token");
            if (mark == tokenizer.chat->special_tokens.end()) continue;
            if (const auto id = id_of(tokenizer, mark->second)) ids.emplace(name, *id);
        }
    }
    ids.insert(tokenizer.named.ids.begin(), tokenizer.named.ids.end());
    if (const auto* const bpe = dynamic_cast<const data::BpeTokenizer*>(&tokenizer)) {
        const std::vector<std::string>& vocab = bpe->spec().vocab;
        const auto unknown = std::find(vocab.begin(), vocab.end(), bpe->spec().unk_token);
        if (unknown != vocab.end()) ids.emplace("unk", static_cast<std::int32_t>(unknown - vocab.begin()));
    }
    if (const auto end = tokenizer.end_of_text(); end && tokenizer.named.ids.empty())
        for (const char* const name : {"bos", "eos", "unk"}) ids.emplace(name, *end);
    return ids;
}

void set_gguf_special_tokens(formats::GgufWriter& out, const data::Tokenizer& tokenizer, const Architecture& model) {
    const std::map<std::string, std::int32_t> named = named_tokens(tokenizer);
    const auto before = tokenizer.tokens_before(), after = tokenizer.tokens_after();
    check<BadInput>(before.size() <= 1 && after.size() <= 1,
                    "gguf: tokenizer.json: its post_processor adds more than a token that begins and one that ends a "
                    "text");
    std::vector<std::int32_t> ends;
    const auto add_end = [&](std::int32_t id) {
        if (!std::count(ends.begin(), ends.end(), id)) ends.push_back(id);
    };
    for (const std::int32_t id : after) add_end(id);
    if (named.contains("eos")) add_end(named.at("eos"));
    if (const auto turn = end_of_turn(tokenizer)) add_end(*turn);
    for (const std::int32_t id : model.end_tokens) add_end(id);
    check<BadInput>(!ends.empty() || tokenizer.kind() == data::TokenizerKind::characters,
                    "gguf: no token ends a text, and llama.cpp would take token 11 for it: name it in "
                    "tokenizer_config.json as eos_token");
    std::vector<std::pair<const char*, std::int32_t>> keys;
    constexpr const char* kEnds[] = {"eos", "eot", "eom"};
    for (std::size_t i = 0; i < std::min(ends.size(), std::size(kEnds)); ++i) keys.emplace_back(kEnds[i], ends[i]);
    for (const auto& [name, key] : kGgufTokenNames) {
        if (name == std::string_view("eos")) continue;
        if (name == std::string_view("bos") && !before.empty())
            keys.emplace_back(key, before[0]);
        else if (named.contains(name))
            keys.emplace_back(key, named.at(name));
    }
    for (const auto& [key, id] : keys)
        out.set_u32(fmt::format("tokenizer.ggml.{}_token_id", key), static_cast<std::uint32_t>(id));
    const auto adds = [&](const char* name, bool by_template) {
        const auto flag = tokenizer.named.added.find(name);
        const bool added = flag == tokenizer.named.added.end() ? by_template : flag->second;
        if (!ends.empty()) out.set_bool(fmt::format("tokenizer.ggml.add_{}_token", name), added);
    };
    adds("bos", !before.empty());
    adds("eos", !after.empty());
}

}  // namespace inkling::models
