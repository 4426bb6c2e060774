// GPTConfig to and from config.json, as transformers writes it for GPT2Config and NanoChatConfig.
#include <nlohmann/json.hpp>

#include "data/json_parts.h"
#include "engine/check.h"
#include "models/gpt_config.h"

namespace inkling::models {

using nlohmann::json;

namespace {

json gpt2_json(const GPTConfig& c, const json& eot) {
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"model_type", "gpt2"},
            {"activation_function", "gelu_new"},
            {"attn_pdrop", c.dropout},
            {"embd_pdrop", c.dropout},
            {"resid_pdrop", c.dropout},
            {"bias", c.bias},  // ours: without biases, those of the file are zeros
            {"bos_token_id", eot},
            {"eos_token_id", eot},
            {"initializer_range", 0.02},
            {"layer_norm_epsilon", c.layer_norm_epsilon},
            {"n_ctx", c.block_size},
            {"n_embd", c.n_embd},
            {"n_head", c.n_head},
            {"n_inner", nullptr},
            {"n_layer", c.n_layer},
            {"n_positions", c.block_size},
            {"tie_word_embeddings", true},
            {"torch_dtype", "float32"},
            {"use_cache", true},
            {"vocab_size", c.vocab_size}};
}

json nanochat_json(const GPTConfig& c, const json& eot) {
    return {{"architectures", {"NanoChatForCausalLM"}},
            {"model_type", "nanochat"},
            {"attention_bias", c.bias},
            {"attention_dropout", c.dropout},
            {"bos_token_id", eot},
            {"eos_token_id", eot},
            {"pad_token_id", nullptr},
            {"final_logit_softcapping", c.softcap > 0 ? json(c.softcap) : json(nullptr)},
            {"hidden_act", "relu2"},
            {"hidden_size", c.n_embd},
            {"initializer_range", 0.02},
            {"intermediate_size", c.inner()},
            {"max_position_embeddings", c.block_size},
            {"num_attention_heads", c.n_head},
            {"num_hidden_layers", c.n_layer},
            {"num_key_value_heads", c.kv_heads()},
            {"rms_norm_eps", c.layer_norm_epsilon},
            {"rope_parameters", {{"rope_theta", c.rope_theta}, {"rope_type", "default"}}},
            {"tie_word_embeddings", false},
            {"torch_dtype", "float32"},
            {"use_cache", true},
            {"vocab_size", c.vocab_size}};
}

// A text for messages: one short line of ASCII.
std::string shown(const std::string& text) {
    const std::string quoted = data::quote(text);
    return quoted.substr(1, quoted.size() - (quoted.ends_with('"') ? 2 : 1));
}

// Values of a config.json by key; every complaint names the file and the key.
class Reader {
  public:
    Reader(const json& object, const std::string& what) : json_(object), what_(what) {}

    bool has(const char* key) const { return find(key) != nullptr; }  // and is not null
    bool names(const char* key) const { return json_.contains(key); }
    std::string text(const char* key, const std::string& otherwise) const {
        const json* const found = find(key);
        if (!found) return otherwise;
        require(found->is_string(), "{} must be a text, got {}", key, data::quote(*found));
        return found->get<std::string>();
    }
    std::size_t size(const char* key) const {
        const json* const found = find(key);
        const bool good = found && found->is_number_unsigned() && found->get<std::uint64_t>() >= 1 &&
                          found->get<std::uint64_t>() <= (1u << 30);
        require(good, "{} must be a whole number of at least 1, got {}", key, found ? data::quote(*found) : "nothing");
        return found->get<std::size_t>();
    }
    double number(const char* key, double otherwise) const {
        const json* const found = find(key);
        if (!found) return otherwise;
        require(found->is_number(), "{} must be a number, got {}", key, data::quote(*found));
        return found->get<double>();
    }
    bool flag(const char* key, bool otherwise) const {
        const json* const found = find(key);
        if (!found) return otherwise;
        require(found->is_boolean(), "{} must be true or false, got {}", key, data::quote(*found));
        return found->get<bool>();
    }
    // A choice that models may make, of which this program knows one side.
    void require_flag(const char* key, bool value) const {
        require(flag(key, value) == value, "{} {} is not supported: {} is", key, !value, value);
    }
    std::string dump(const char* key) const { return has(key) ? data::quote(*find(key)) : "null"; }
    // An object, or an empty one.
    json object(const char* key) const {
        const json* const found = find(key);
        if (!found) return json::object();
        require(found->is_object(), "{} must be an object, got {}", key, data::quote(*found));
        return *found;
    }

    template <class... Args>
    void require(bool good, fmt::format_string<Args...> format, Args&&... args) const {
        if (!good) throw BadInput(what_ + ": " + fmt::format(format, std::forward<Args>(args)...));
    }

  private:
    const json* find(const char* key) const {  // null counts as absent
        const auto found = json_.find(key);
        return found == json_.end() || found->is_null() ? nullptr : &*found;
    }

    const json& json_;
    const std::string& what_;
};

GPTConfig read_gpt2(const Reader& in) {
    const std::string activation = in.text("activation_function", "gelu_new");
    in.require(activation == "gelu_new" || activation == "gelu_pytorch_tanh",
               "activation_function '{}' is not supported: gelu_new is", shown(activation));
    in.require_flag("scale_attn_weights", true);
    in.require_flag("scale_attn_by_inverse_layer_idx", false);
    in.require_flag("add_cross_attention", false);
    in.require_flag("tie_word_embeddings", true);
    GPTConfig config;
    config.vocab_size = in.size("vocab_size");
    config.n_layer = in.size("n_layer");
    config.n_head = in.size("n_head");
    config.n_embd = in.size("n_embd");
    config.block_size = in.size("n_positions");
    config.dropout = in.number("resid_pdrop", 0.1);
    config.layer_norm_epsilon = in.number("layer_norm_epsilon", 1e-5);
    config.bias = in.flag("bias", true);
    const bool wide = in.has("n_inner") && in.size("n_inner") != 4 * config.n_embd;
    in.require(!wide, "n_inner must be 4 n_embd, got {}", wide ? in.size("n_inner") : 0);
    return config;
}

GPTConfig read_nanochat(const Reader& in, const std::string& what) {
    const std::string activation = in.text("hidden_act", "relu2");
    in.require(activation == "relu2", "hidden_act '{}' is not supported: relu2 is", shown(activation));
    in.require_flag("tie_word_embeddings", false);
    in.require(!in.has("rope_scaling"), "rope_scaling {} is not supported: null is", in.dump("rope_scaling"));
    const json rope_object = in.object("rope_parameters");
    const std::string rope_name = what + ": rope_parameters";
    const Reader rope(rope_object, rope_name);
    const std::string rope_type = rope.text("rope_type", "default");
    in.require(rope_type == "default", "rope_type '{}' is not supported: default is", shown(rope_type));
    in.require(rope.number("partial_rotary_factor", 1) == 1,
               "partial_rotary_factor must be 1: rotary positions turn the whole of a head");
    GPTConfig config;
    config.arch = Arch::nanochat;
    config.vocab_size = in.size("vocab_size");
    config.n_layer = in.size("num_hidden_layers");
    config.n_head = in.size("num_attention_heads");
    const std::size_t kv_heads = in.has("num_key_value_heads") ? in.size("num_key_value_heads") : config.n_head;
    config.n_kv_head = kv_heads == config.n_head ? 0 : kv_heads;
    config.n_embd = in.size("hidden_size");
    config.n_inner = in.size("intermediate_size");
    config.block_size = in.size("max_position_embeddings");
    config.dropout = in.number("attention_dropout", 0);
    config.layer_norm_epsilon = in.number("rms_norm_eps", 1e-6);
    config.bias = in.flag("attention_bias", false);
    config.rope_theta = rope.number("rope_theta", in.number("rope_theta", 10000));
    config.softcap = in.number("final_logit_softcapping", in.names("final_logit_softcapping") ? 0 : 15);
    in.require(config.softcap > 0 || !in.has("final_logit_softcapping"),
               "final_logit_softcapping must be above 0, or null, got {}", in.dump("final_logit_softcapping"));
    in.require(!in.has("head_dim") || in.size("head_dim") * config.n_head == config.n_embd,
               "head_dim must be hidden_size / num_attention_heads");
    return config;
}

}  // namespace

json GPTConfig::to_json(std::int64_t end_of_text) const {
    const json eot = end_of_text < 0 ? json(nullptr) : json(end_of_text);
    return arch == Arch::gpt2 ? gpt2_json(*this, eot) : nanochat_json(*this, eot);
}

GPTConfig GPTConfig::from_json(const json& j, const std::string& what) {
    check<BadInput>(j.is_object(), "{}: a JSON object is required", what);
    const Reader in(j, what);
    const std::string type = in.text("model_type", "none");
    in.require(type == "gpt2" || type == "nanochat", "model_type '{}' is not supported: gpt2 and nanochat are",
               shown(type));
    in.require(!in.has("quantization_config"),
               "quantization_config: quantized weights are not supported: float32, float16 and bfloat16 are");
    const GPTConfig config = type == "gpt2" ? read_gpt2(in) : read_nanochat(in, what);
    try {
        config.validate();
    } catch (const Error& e) {
        throw BadInput(fmt::format("{}: {}", what, e.what()));
    }
    return config;
}

}  // namespace inkling::models
