#include "models/families/config_keys.h"

#include <algorithm>
#include <optional>

#include "formats/json.h"

namespace inkling::models {

using nlohmann::json;

std::string ConfigReader::shown(const char* key) const {
    const json* const found = find(key);
    if (!found) return "null";
    const std::string quoted = formats::quote(*found);
    if (!found->is_string()) return quoted;
    return quoted.substr(1, quoted.size() - (quoted.ends_with('"') ? 2 : 1));
}

std::size_t ConfigReader::size(const char* key, std::size_t otherwise) const {
    if (otherwise > 0 && !has(key)) return otherwise;
    const std::int64_t n = find(key) ? formats::whole_number(*find(key)).value_or(0) : 0;
    if (n < 1 || n > 1 << 30) refuse_kind(key, "a whole number of at least 1");
    return static_cast<std::size_t>(n);
}

double ConfigReader::positive(const char* key, double otherwise) const {
    const double value = number(key, otherwise);
    if (!(value > 0)) refuse_kind(key, "above 0");
    return value;
}

static const json kNoKeys = json::object();

ConfigReader ConfigReader::object(const char* key) const {
    const json* const found = find(key);
    if (found && !found->is_object()) refuse_kind(key, "an object");
    return {found ? *found : kNoKeys, place_ + key};
}

constexpr std::pair<const char*, Activation> kActivations[] = {{"gelu_new", Activation::gelu_tanh},
                                                               {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                                               {"gelu_fast", Activation::gelu_tanh},
                                                               {"gelu_accurate", Activation::gelu_tanh},
                                                               {"gelu_python_tanh", Activation::gelu_tanh},
                                                               {"gelu", Activation::gelu_erf},
                                                               {"gelu_python", Activation::gelu_erf},
                                                               {"relu", Activation::relu},
                                                               {"relu2", Activation::squared_relu},
                                                               {"silu", Activation::silu},
                                                               {"swish", Activation::silu}};

static std::optional<Activation> activation_named(const std::string& name) {
    for (const auto& [known, activation] : kActivations)
        if (name == known) return activation;
    return std::nullopt;
}

Activation ConfigReader::activation(const char* key, Activation otherwise) const {
    const auto found = activation_named(text(key, activation_name(otherwise)));
    require(found.has_value(), "{} '{}' is not supported: gelu_new, gelu, relu and silu are", key, shown(key));
    return *found;
}

void ConfigReader::require_activation(const char* key, Activation value) const {
    const char* const name = activation_name(value);
    require(activation_named(text(key, name)) == value, "{} '{}' is not supported: {} is", key, shown(key), name);
}

const char* activation_name(Activation activation) {
    for (const auto& [name, known] : kActivations)
        if (activation == known) return name;
    return "";
}

void ConfigReader::require_flag(const char* key, bool value) const {
    require(flag(key, value) == value, "{} {} is not supported: models with {} are", key, !value, value);
}

void ConfigReader::require_text(const char* key, const std::string& value) const {
    require(text(key, value) == value, "{} '{}' is not supported: those of {} are", key, shown(key), value);
}

ConfigKeys::ConfigKeys() : ConfigReader(kNoKeys, ""), reads(false) {}

void map_sizes(ConfigKeys& keys, Architecture& a, const SizeDefaults& defaults) {
    keys.map("num_hidden_layers", a.n_layer);
    keys.map("num_attention_heads", a.n_head, defaults.heads);
    keys.map("hidden_size", a.n_embd);
    std::size_t inner = a.inner();
    keys.map("intermediate_size", inner);
    a.set_inner(inner);
    keys.map("max_position_embeddings", a.block_size, defaults.context);
}

void map_rotary_sizes(ConfigKeys& keys, Architecture& a, const SizeDefaults& defaults) {
    map_sizes(keys, a, defaults);
    const char* const key = "num_key_value_heads";
    std::size_t kv_heads = a.kv_heads();
    keys.map(key, kv_heads, defaults.kv_heads && !keys.names(key) ? defaults.kv_heads : a.n_head);
    a.set_kv_heads(kv_heads);
    keys.map("attention_dropout", a.dropout, 0);
    keys.map_positive("rms_norm_eps", a.norm_epsilon, 1e-6);
    map_rope(keys, a);
}

void map_head_dim(ConfigKeys& keys, Architecture& a, std::size_t otherwise) {
    std::size_t width = a.head_size();
    keys.map("head_dim", width, otherwise ? otherwise : std::max<std::size_t>(1, a.n_embd / a.n_head));
    a.set_head_size(width);
}

// The object of rotary positions; `beside` has the older keys.
static void map_angles(ConfigKeys& keys, Architecture& a, const ConfigReader& beside) {
    static constexpr const char* kTypes[] = {"default", "linear", "llama3"};  // of RopeScaling
    keys.map_positive("rope_theta", a.rope_theta, a.rope_theta);
    const char* const key = keys.has("rope_type") ? "rope_type" : "type";
    const std::string name = keys.text(key, kTypes[keys.reads ? 0 : static_cast<std::size_t>(a.rope.scaling)]);
    const auto type = static_cast<std::size_t>(std::find(std::begin(kTypes), std::end(kTypes), name) - kTypes);
    keys.require(type < std::size(kTypes), "rope_type '{}' is not supported: default, linear and llama3 are",
                 keys.shown(key));
    keys.write("rope_type", name);
    if (type == 0) return;
    if (keys.reads) a.rope = {.scaling = static_cast<RopeScaling>(type)};
    keys.map_positive("factor", a.rope.factor);
    if (a.rope.scaling == RopeScaling::linear) return;
    keys.map_positive("low_freq_factor", a.rope.low);
    keys.map_positive("high_freq_factor", a.rope.high);
    const char* const original = "original_max_position_embeddings";
    keys.map(original, a.rope.original, beside.size(original, a.block_size));
}

void map_rope(ConfigKeys& keys, Architecture& a, const char* theta_key, const char* part_key, const char* object_key) {
    const char* const part = "partial_rotary_factor";
    const ConfigReader object = keys.object(keys.has("rope_scaling") ? "rope_scaling" : object_key);
    ConfigKeys rope = keys.reads ? ConfigKeys(object) : ConfigKeys();
    keys.map_positive(theta_key, a.rope_theta, a.rope_theta);
    map_angles(rope, a, keys);
    if (keys.reads) a.rotary_part = object.number(part, keys.number(part_key ? part_key : part, a.rotary_part));
    keys.require(part_key || a.rotary_part == 1, "{} must be 1: rotary positions turn the whole of a head", part);
    keys.write("rope_theta", a.rope_theta);
    keys.write("rope_scaling", a.rope.scaling == RopeScaling::none ? json(nullptr) : rope.out);
    if (part_key) {
        keys.write(part_key, a.rotary_part);
        rope.write(part, a.rotary_part);
    }
    keys.write(object_key, rope.out);
}

}  // namespace inkling::models
