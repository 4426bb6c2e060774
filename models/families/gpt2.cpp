// GPT-2 (Radford et al. 2019), transformers' GPT2LMHeadModel: learned positions, layer norms, gelu, one matrix for
// query, key and value, a head tied to the token table. Files hold its linear weights (in, out), Conv1D there.
#include "formats/gguf/gguf_writer.h"
#include "models/families/config_reader.h"
#include "models/families/family.h"

namespace inkling::models {
namespace gpt2 {

using nlohmann::json;

Architecture defaults(bool bias) {
    Architecture a;
    a.family = "gpt2";
    a.norm_bias = a.qkv_bias = a.attention_bias = a.mlp_bias = bias;
    return a;
}

json to_json(const Architecture& a) {
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"activation_function", activation_name(a.activation)},
            {"attn_pdrop", a.dropout},
            {"embd_pdrop", a.dropout},
            {"resid_pdrop", a.dropout},
            {"bias", a.qkv_bias},  // ours: without biases, those of the file are zeros
            {"layer_norm_epsilon", a.norm_epsilon},
            {"n_ctx", a.block_size},
            {"n_embd", a.n_embd},
            {"n_head", a.n_head},
            {"n_inner", a.n_inner ? json(a.n_inner) : json(nullptr)},
            {"n_layer", a.n_layer},
            {"n_positions", a.block_size},
            {"scale_attn_by_inverse_layer_idx", a.scale_by_layer}};
}

Architecture from_json(const ConfigReader& in) {
    in.require_flag("scale_attn_weights", true);
    in.require_flag("add_cross_attention", false);
    Architecture a = defaults(in.flag("bias", true));
    a.n_layer = in.size("n_layer");
    a.n_head = in.size("n_head");
    a.n_embd = in.size("n_embd");
    a.block_size = in.size("n_positions");
    a.dropout = in.number("resid_pdrop", 0.1);
    a.norm_epsilon = in.positive("layer_norm_epsilon", 1e-5);
    a.set_inner(in.size("n_inner", 4 * a.n_embd));
    a.activation = in.activation("activation_function", Activation::gelu_tanh);
    a.scale_by_layer = in.flag("scale_attn_by_inverse_layer_idx", false);
    return a;
}

// llama.cpp's GPT-2 knows one activation, which differs from gelu_erf by less than its table of it does.
void set_gguf_keys(formats::GgufWriter&, const Architecture& a) {
    check<BadInput>(a.activation == Activation::gelu_tanh || a.activation == Activation::gelu_erf,
                    "gguf: llama.cpp's GPT-2 has gelu alone, not {}: export a folder with --format hf",
                    activation_name(a.activation));
}

}  // namespace gpt2

Family gpt2_family() {
    using namespace gpt2;
    using enum ParameterName;
    return {.name = "gpt2",
            .model_types = {"gpt2"},
            .flags = {"n-inner"},
            .biased = true,
            .defaults = defaults,
            .to_json = to_json,
            .from_json = from_json,
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
            .gguf_name = "gpt2",
            .set_gguf_keys = set_gguf_keys};
}

}  // namespace inkling::models
