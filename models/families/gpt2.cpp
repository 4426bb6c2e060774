// GPT-2 (Radford et al. 2019), transformers' GPT2LMHeadModel: learned positions, layer norms, gelu, one matrix for
// query, key and value, a head tied to the token table. Files hold its linear weights (in, out), Conv1D there.
#include "models/families/config_keys.h"
#include "models/families/family.h"

namespace inkling::models {

using nlohmann::json;

Family gpt2_family() {
    using enum ParameterName;
    Family f = {.name = "gpt2",
                .model_types = {"gpt2"},
                .flags = {"n-inner"},
                .biased = true,
                .transformers_class = "GPT2LMHeadModel",
                .bias_key = "bias",  // ours: without biases, those of the file are zeros
                .layer_prefix = "transformer.h.",
                .names = {{token_table, "transformer.wte"},
                          {position_table, "transformer.wpe"},
                          {attention_norm, "ln_1"},
                          {query_key_value, "attn.c_attn"},
                          {attention_output, "attn.c_proj"},
                          {mlp_norm, "ln_2"},
                          {up, "mlp.c_fc"},
                          {down, "mlp.c_proj"},
                          {final_norm, "transformer.ln_f"},
                          {head, "lm_head"}},
                .optional_prefix = "transformer.",               // openai's own files lack it
                .ignored = {".attn.bias", ".attn.masked_bias"},  // buffers of old files: the causal mask
                .linear_in_out = true,
                .always_biased = true,
                .gguf_name = "gpt2"};
    f.defaults = [](bool bias) {
        Architecture a;
        a.family = "gpt2";
        a.norm_bias = a.qkv_bias = a.attention_bias = a.mlp_bias = bias;
        return a;
    };
    f.map_config = [](ConfigKeys& keys, Architecture& a) {
        keys.require_flag("scale_attn_weights", true);
        keys.require_flag("add_cross_attention", false);
        keys.map("n_layer", a.n_layer);
        keys.map("n_head", a.n_head);
        keys.map("n_embd", a.n_embd);
        keys.map("n_positions", a.block_size);
        keys.write("n_ctx", a.block_size);
        keys.write("n_inner", a.n_inner ? json(a.n_inner) : json(nullptr));
        if (keys.reads) a.set_inner(keys.size("n_inner", 4 * a.n_embd));
        keys.map("resid_pdrop", a.dropout, 0.1);
        keys.write("attn_pdrop", a.dropout);
        keys.write("embd_pdrop", a.dropout);
        keys.map_positive("layer_norm_epsilon", a.norm_epsilon, 1e-5);
        keys.map("activation_function", a.activation, Activation::gelu_tanh);
        keys.map("scale_attn_by_inverse_layer_idx", a.scale_by_layer, false);
    };
    return f;
}

}  // namespace inkling::models
