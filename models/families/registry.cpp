// The list of families, and what all families share.
#include <fmt/ranges.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/names.h"
#include "models/families/config_keys.h"
#include "models/families/family.h"

namespace inkling::models {

using nlohmann::json;

Family gpt2_family();
Family nanochat_family();
Family llama_family();
Family qwen2_family();
Family qwen3_family();
Family gpt_neox_family();
Family gemma3_family();
Family inkling_family();

const std::vector<Family>& families() {
    static const std::vector<Family> all = {gpt2_family(),  nanochat_family(), llama_family(),  qwen2_family(),
                                            qwen3_family(), gpt_neox_family(), gemma3_family(), inkling_family()};
    return all;
}

std::vector<std::string> family_names() {
    std::vector<std::string> names;
    for (const Family& f : families()) names.push_back(f.name);
    return names;
}

const Family& family(const std::string& name) {
    const auto found =
        std::find_if(families().begin(), families().end(), [&](const Family& f) { return f.name == name; });
    if (found == families().end()) refuse_name("--arch", name, family_names());
    return *found;
}

// The name of a part in the model's files: transformer.h.0.attn.c_attn.
static std::string place_of(const Family& f, const ParameterSpec& p) {
    const auto found = f.names.find(p.name);
    check(found != f.names.end(), "{}: its files have no name for a part of this architecture: take another family",
          f.name);
    return (in_layer(p.name) ? f.layer_prefix + std::to_string(p.layer) + "." : "") + found->second;
}

std::string Family::layer_of(const ParameterSpec& p) const {
    return p.name == ParameterName::head && !other_head.empty() ? other_head : place_of(*this, p);
}

std::string Family::name_of(const ParameterSpec& p) const {
    static const char* const ends[] = {".weight", ".bias", ".lora_A.weight", ".lora_B.weight"};
    return (is_lora(p) ? layer_of(p) : place_of(*this, p)) + ends[static_cast<std::size_t>(p.slot)];
}

bool Family::stored_transposed(const ParameterSpec& p) const {
    return linear_in_out && p.kind.role == nn::Role::matrix;
}

bool Family::has_flag(const std::string& flag) const { return std::count(flags.begin(), flags.end(), flag) > 0; }

std::vector<ParameterSpec> Family::zero_biases(const Architecture& a) const {
    if (!always_biased && !always_qkv_biased) return {};
    Architecture full = a, one = a;
    full.qkv_bias = true;
    if (always_biased) full.norm_bias = full.attention_bias = full.mlp_bias = true;
    one.n_layer = 1;  // layers are alike
    std::vector<ParameterSpec> missing = parameters(full);
    std::erase_if(missing, [there = parameters(one)](const ParameterSpec& p) {
        return std::any_of(there.begin(), there.end(),
                           [&](const ParameterSpec& q) { return q.name == p.name && q.slot == p.slot; });
    });
    return missing;
}

json config_json(const Architecture& a, std::int64_t end_of_text) {
    const Family& f = family(a.family);
    const json end = end_of_text < 0 ? json(nullptr) : json(end_of_text);
    ConfigKeys map;
    map.out = {{"architectures", json::array({f.transformers_class})},
               {"bos_token_id", !a.has_bos          ? json(nullptr)
                                : a.begin_token < 0 ? end
                                                    : json(a.begin_token)},
               {"eos_token_id", a.end_tokens.empty()       ? end
                                : a.end_tokens.size() == 1 ? json(a.end_tokens[0])
                                                           : json(a.end_tokens)},
               {"initializer_range", 0.02},
               {"model_type", f.model_types[0]},
               {"tie_word_embeddings", a.tied_head},
               {"torch_dtype", "float32"},
               {"use_cache", true},
               {"vocab_size", a.vocab_size}};
    if (!f.bias_key.empty()) map.out[f.bias_key] = a.qkv_bias;
    Architecture copy = a;
    f.map_config(map, copy);
    return map.out;
}

Architecture read_config(const json& j, const std::string& what) {
    const ConfigReader whole(j, what);
    const bool nested = whole.has("text_config");  // beside that of a model of pictures
    const ConfigReader in = nested ? whole.object("text_config") : whole;
    const std::string type = whole.text("model_type", "none");
    const Family* found = nullptr;
    std::vector<std::string> known;
    for (const Family& f : families()) {
        known.insert(known.end(), f.model_types.begin(), f.model_types.end());
        if (std::count(f.model_types.begin(), f.model_types.end(), type)) found = &f;
    }
    whole.require(found, "model_type '{}' is not supported: {} are", whole.shown("model_type"), fmt::join(known, ", "));
    whole.require(!whole.has("quantization_config"),
                  "quantization_config: quantized weights are not supported: float32, float16 and bfloat16 are");
    const std::string& bias = found->bias_key;
    Architecture a = found->defaults(bias.empty() ? found->biased : in.flag(bias.c_str(), found->biased));
    ConfigKeys map(in);
    found->map_config(map, a);
    a.tied_head = in.flag("tie_word_embeddings", a.tied_head);
    if (!nested || in.has("vocab_size")) a.vocab_size = in.size("vocab_size");
    a.has_bos = in.has("bos_token_id") || !in.has("eos_token_id");
    validate_read(a, what);
    return a;
}

void validate_read(const Architecture& a, const std::string& file) {
    try {
        a.validate();
    } catch (const Error& e) {
        throw BadInput(fmt::format("{}: {}", file, e.what()));
    }
}

}  // namespace inkling::models
