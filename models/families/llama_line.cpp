#include "models/families/llama_line.h"

namespace inkling::models {

using nlohmann::json;

Architecture llama_line_defaults(const char* family) {
    Architecture a;
    a.family = family;
    a.packed_qkv = a.residual_dropout = false;
    a.norm = NormKind::rms;
    a.norm_bias = a.qkv_bias = a.attention_bias = a.mlp_bias = false;
    a.norm_epsilon = 1e-6;
    a.positions = Positions::rotary;
    a.activation = Activation::silu;
    a.gated = true;
    a.tied_head = false;
    return a;
}

json llama_line_json(const Architecture& a, const char* transformers_class) {
    json j = rotary_sizes_json(a);
    j.update({{"architectures", {transformers_class}}, {"head_dim", a.head_size()}, {"hidden_act", "silu"}});
    return j;
}

void read_llama_line(const ConfigReader& in, Architecture& a, const SizeDefaults& defaults) {
    in.require_activation("hidden_act", Activation::silu);
    in.read_rotary_sizes(a, defaults);
    a.norm_epsilon = in.positive("rms_norm_eps", 1e-6);
    a.tied_head = in.flag("tie_word_embeddings", false);
}

std::size_t sliding_window(const ConfigReader& in, const Architecture& a) {
    if (in.names("sliding_window") && !in.has("sliding_window")) return 0;  // null: there is none
    const std::size_t window = in.size("sliding_window", 4096);
    return window < a.block_size ? window : 0;
}

void check_sliding_layers(const ConfigReader& in, const Architecture& a) {
    if (!in.flag("use_sliding_window", false)) return;
    bool slides = !in.has("layer_types") && in.number("max_window_layers", 28) < static_cast<double>(a.n_layer);
    for (const std::string& type : in.texts("layer_types")) slides = slides || type != "full_attention";
    const std::size_t window = slides ? sliding_window(in, a) : 0;
    in.require(window == 0,
               "sliding_window {} is smaller than max_position_embeddings {}, and not supported: make that {}, too",
               window, a.block_size, window);
}

Family llama_line_family(const char* name) {
    return {.name = name,
            .model_types = {name},
            .flags = {"n-kv-head", "n-inner", "head-dim", "rope-theta"},
            .biased = false,
            .layer_prefix = "model.layers.",
            .names = {{Part::token_table, "model.embed_tokens"},
                      {Part::attention_norm, "input_layernorm"},
                      {Part::query, "self_attn.q_proj"},
                      {Part::key, "self_attn.k_proj"},
                      {Part::value, "self_attn.v_proj"},
                      {Part::query_norm, "self_attn.q_norm"},
                      {Part::key_norm, "self_attn.k_norm"},
                      {Part::attention_output, "self_attn.o_proj"},
                      {Part::mlp_norm, "post_attention_layernorm"},
                      {Part::gate, "mlp.gate_proj"},
                      {Part::up, "mlp.up_proj"},
                      {Part::down, "mlp.down_proj"},
                      {Part::final_norm, "model.norm"},
                      {Part::head, "lm_head"}},
            .optional_prefix = "model.",          // LlamaModel's own files lack it
            .ignored = {".rotary_emb.inv_freq"},  // buffers of old files
            .gguf_name = name};
}

}  // namespace inkling::models
