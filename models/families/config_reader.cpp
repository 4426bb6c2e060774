#include "models/families/config_reader.h"

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

std::string ConfigReader::file_name(const char* key) const {
    const json* const found = find(key);
    return found ? formats::file_name(*found).value_or("") : "";
}

std::size_t ConfigReader::size(const char* key) const {
    const std::int64_t n = find(key) ? formats::whole_number(*find(key)).value_or(0) : 0;
    if (n < 1 || n > 1 << 30) refuse_kind(key, "a whole number of at least 1");
    return static_cast<std::size_t>(n);
}

double ConfigReader::positive(const char* key, double otherwise) const {
    const double value = number(key, otherwise);
    if (!(value > 0)) refuse_kind(key, "above 0");
    return value;
}

ConfigReader ConfigReader::object(const char* key) const {
    static const json none = json::object();
    const json* const found = find(key);
    if (found && !found->is_object()) refuse_kind(key, "an object");
    return {found ? *found : none, place_ + key};
}

void ConfigReader::read_rotary_sizes(Architecture& a, const SizeDefaults& defaults) const {
    a.n_layer = size("num_hidden_layers");
    a.n_head = defaults.heads && !has("num_attention_heads") ? defaults.heads : size("num_attention_heads");
    const bool usual = defaults.kv_heads && !names("num_key_value_heads");
    const std::size_t kv_heads = usual ? defaults.kv_heads : size("num_key_value_heads", a.n_head);
    a.n_kv_head = kv_heads == a.n_head ? 0 : kv_heads;
    a.n_embd = size("hidden_size");
    const std::size_t head_dim = size("head_dim", defaults.head_dim ? defaults.head_dim : a.n_embd / a.n_head);
    a.head_dim = head_dim * a.n_head == a.n_embd ? 0 : head_dim;
    a.n_inner = size("intermediate_size");
    a.block_size = size("max_position_embeddings", defaults.context);
    a.dropout = number("attention_dropout", 0);
    a.norm_epsilon = positive("rms_norm_eps", 1e-6);
    require(read_rope(a) == 1, "partial_rotary_factor must be 1: rotary positions turn the whole of a head");
}

double ConfigReader::read_rope(Architecture& a, const char* theta_key, const char* part_key, double part,
                               const char* object_key) const {
    const ConfigReader in = object(has("rope_scaling") ? "rope_scaling" : object_key);
    a.rope_theta = in.positive("rope_theta", positive(theta_key, a.rope_theta));
    const std::string type = in.text("rope_type", in.text("type", "default"));
    if (type == "llama3") {
        a.rope = {RopeScaling::llama3, in.positive("factor", 0), in.positive("low_freq_factor", 0),
                  in.positive("high_freq_factor", 0),
                  in.size("original_max_position_embeddings", size("original_max_position_embeddings", a.block_size))};
    } else if (type == "linear") {
        a.rope = {.scaling = RopeScaling::linear, .factor = in.positive("factor", 0)};
    } else {
        in.require(type == "default", "rope_type '{}' is not supported: default, linear and llama3 are",
                   in.shown(in.has("rope_type") ? "rope_type" : "type"));
    }
    return in.number("partial_rotary_factor", number(part_key, part));
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

json rotary_json(const Architecture& a) {
    json rope = {{"rope_theta", a.rope_theta}, {"rope_type", "default"}};
    if (a.rope.scaling == RopeScaling::linear) rope.update({{"rope_type", "linear"}, {"factor", a.rope.factor}});
    if (a.rope.scaling == RopeScaling::llama3)
        rope.update({{"rope_type", "llama3"},
                     {"factor", a.rope.factor},
                     {"low_freq_factor", a.rope.low},
                     {"high_freq_factor", a.rope.high},
                     {"original_max_position_embeddings", a.rope.original}});
    return {{"rope_theta", a.rope_theta},
            {"rope_scaling", a.rope.scaling == RopeScaling::none ? json(nullptr) : rope},
            {"rope_parameters", rope}};
}

json rotary_sizes_json(const Architecture& a) {
    json j = {{"attention_dropout", a.dropout},      {"hidden_size", a.n_embd},
              {"intermediate_size", a.inner()},      {"max_position_embeddings", a.block_size},
              {"num_attention_heads", a.n_head},     {"num_hidden_layers", a.n_layer},
              {"num_key_value_heads", a.kv_heads()}, {"rms_norm_eps", a.norm_epsilon}};
    j.update(rotary_json(a));
    return j;
}

void ConfigReader::require_flag(const char* key, bool value) const {
    require(flag(key, value) == value, "{} {} is not supported: models with {} are", key, !value, value);
}

void ConfigReader::require_text(const char* key, const std::string& value) const {
    require(text(key, value) == value, "{} '{}' is not supported: those of {} are", key, shown(key), value);
}

}  // namespace inkling::models
