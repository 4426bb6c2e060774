#include "models/special_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/file.h"
#include "formats/json.h"

namespace inkling::models {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// An object; an empty one where there is no such file.
json read_object(const fs::path& path) {
    json j = formats::is_there(path) ? read_json(path) : json::object();
    return j.is_object() ? j : json::object();
}

}  // namespace

json read_json(const fs::path& path) {
    return formats::parse_json(formats::read_file(path, formats::FileKind::json), path.string(), 64);
}

// bos_token_id is one id, eos_token_id one or several; what is none of the vocabulary is none of a text.
void take_special_tokens(const fs::path& folder, const json& config_json, Architecture& config) {
    for (const json& j : {read_object(folder / "generation_config.json"), config_json}) {
        const auto ids = [&](const char* key) {
            const json value = j.value(key, json());
            std::vector<std::int32_t> known;
            for (const json& id : value.is_array() ? value : json::array({value}))
                if (id.is_number_unsigned() && id.get<std::uint64_t>() < config.vocab_size) known.push_back(id);
            return known;
        };
        if (const auto begin = ids("bos_token_id"); !begin.empty()) config.begin_token = begin[0];
        for (const std::int32_t end : ids("eos_token_id"))
            if (!std::count(config.end_tokens.begin(), config.end_tokens.end(), end)) config.end_tokens.push_back(end);
    }
}

void take_tokenizer_config(const fs::path& folder, const data::Tokenizer& tokenizer, Architecture& config) {
    const json own = read_object(folder / "config.json"), generation = read_object(folder / "generation_config.json");
    const auto silent = [&](const char* key) { return !own.contains(key) && !generation.contains(key); };
    const bool wants_begin = silent("bos_token_id"), wants_end = silent("eos_token_id");
    if (!wants_begin && !wants_end) return;
    const json by_text = read_object(folder / "tokenizer_config.json");
    const auto id = [&](const char* key) -> std::int32_t {
        const json value = by_text.value(key, json());
        const json text = value.is_object() ? value.value("content", json()) : value;
        if (!text.is_string() || !tokenizer.knows(text.get<std::string>())) return -1;
        const std::vector<std::int32_t> ids = tokenizer.encode(text.get<std::string>());
        return ids.size() == 1 && static_cast<std::size_t>(ids[0]) < config.vocab_size ? ids[0] : -1;
    };
    if (const std::int32_t begin = wants_begin ? id("bos_token") : -1; begin >= 0)
        config.begin_token = begin, config.has_bos = true;
    if (const std::int32_t end = wants_end ? id("eos_token") : -1; end >= 0) config.end_tokens = {end};
}

}  // namespace inkling::models
