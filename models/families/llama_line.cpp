#include "models/families/llama_line.h"

namespace inkling::models {

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

void map_llama_line(ConfigKeys& keys, Architecture& a, const SizeDefaults& defaults, std::size_t head_dim) {
    keys.require_activation("hidden_act", Activation::silu);
    keys.write("hidden_act", "silu");
    map_rotary_sizes(keys, a, defaults);
    map_head_dim(keys, a, head_dim);
}

std::size_t sliding_window(const ConfigReader& in, const Architecture& a) {
    if (in.names("sliding_window") && !in.has("sliding_window")) return 0;  // null: there is none
    const std::size_t window = in.size("sliding_window", 4096);
    return window < a.block_size ? window : 0;
}

void map_qwen(ConfigKeys& keys, Architecture& a, std::size_t head_dim) {
    map_llama_line(keys, a, {.context = 32768, .kv_heads = 32}, head_dim);
    keys.write("use_sliding_window", false);
    if (!keys.flag("use_sliding_window", false)) return;
    bool slides = !keys.has("layer_types") && keys.number("max_window_layers", 28) < static_cast<double>(a.n_layer);
    for (const std::string& type : keys.texts("layer_types")) slides = slides || type != "full_attention";
    const std::size_t window = slides ? sliding_window(keys, a) : 0;
    keys.require(window == 0,
                 "sliding_window {} is smaller than max_position_embeddings {}, and not supported: make that {}, too",
                 window, a.block_size, window);
}

Family llama_line_family(const char* name, const char* transformers_class) {
    using enum ParameterName;
    return {.name = name,
            .model_types = {name},
            .flags = {"n-kv-head", "n-inner", "head-dim", "rope-theta"},
            .biased = false,
            .transformers_class = transformers_class,
            .bias_key = "attention_bias",
            .layer_prefix = "model.layers.",
            .names = {{token_table, "model.embed_tokens"},
                      {attention_norm, "input_layernorm"},
                      {query, "self_attn.q_proj"},
                      {key, "self_attn.k_proj"},
                      {value, "self_attn.v_proj"},
                      {query_norm, "self_attn.q_norm"},
                      {key_norm, "self_attn.k_norm"},
                      {attention_output, "self_attn.o_proj"},
                      {mlp_norm, "post_attention_layernorm"},
                      {gate, "mlp.gate_proj"},
                      {up, "mlp.up_proj"},
                      {down, "mlp.down_proj"},
                      {final_norm, "model.norm"},
                      {head, "lm_head"}},
            .optional_prefix = "model.",          // LlamaModel's own files lack it
            .ignored = {".rotary_emb.inv_freq"},  // buffers of old files
            .gguf_name = name};
}

}  // namespace inkling::models
