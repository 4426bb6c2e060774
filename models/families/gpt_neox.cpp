// GPT-NeoX (Black et al. 2022; Pythia, Biderman et al. 2023), transformers' GPTNeoXForCausalLM: layer norms, rotary
// positions of a part of each head, gelu, a head of its own, and layers whose attention and feed-forward part read the
// same. Files hold the rows of query_key_value head by head.
#include "formats/gguf/gguf_file.h"
#include "formats/gguf/gguf_writer.h"
#include "models/families/config_keys.h"
#include "models/families/family.h"

namespace inkling::models {

Family gpt_neox_family() {
    using enum ParameterName;
    Family f = {
        .name = "gpt-neox",
        .model_types = {"gpt_neox"},
        .flags = {"n-inner", "rope-theta"},
        .biased = true,
        .transformers_class = "GPTNeoXForCausalLM",
        .bias_key = "bias",  // ours: without biases, those of the file are zeros
        .layer_prefix = "gpt_neox.layers.",
        .names = {{token_table, "gpt_neox.embed_in"},
                  {attention_norm, "input_layernorm"},
                  {query_key_value, "attention.query_key_value"},
                  {attention_output, "attention.dense"},
                  {mlp_norm, "post_attention_layernorm"},
                  {up, "mlp.dense_h_to_4h"},
                  {down, "mlp.dense_4h_to_h"},
                  {final_norm, "gpt_neox.final_layer_norm"},
                  {head, "embed_out"}},
        .optional_prefix = "gpt_neox.",  // GPTNeoXModel's own files lack it
        .other_head = "lm_head",         // in files of some versions of transformers
        .ignored = {".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"},  // buffers of old files
        .qkv_by_head = true,
        .always_biased = true,
        .gguf_name = "gptneox",
        .gguf_untied = true};
    f.defaults = [](bool bias) {
        Architecture a;
        a.family = "gpt-neox";
        a.norm_bias = a.qkv_bias = a.attention_bias = a.mlp_bias = bias;
        a.positions = Positions::rotary;
        a.rotary_part = 0.25;
        a.parallel_residual = true;
        a.activation = Activation::gelu_erf;
        a.tied_head = false;
        return a;
    };
    f.map_config = [](ConfigKeys& keys, Architecture& a) {
        keys.require_flag("attention_bias", true);
        keys.write("attention_bias", true);
        map_sizes(keys, a, {.context = 2048});
        keys.map("hidden_dropout", a.dropout, 0);
        keys.write("attention_dropout", a.dropout);
        keys.map_positive("layer_norm_eps", a.norm_epsilon, 1e-5);
        keys.map("hidden_act", a.activation, Activation::gelu_erf);
        keys.map("use_parallel_residual", a.parallel_residual, true);
        map_rope(keys, a, "rotary_emb_base", "rotary_pct");
    };
    f.set_gguf_keys = [](formats::GgufWriter& out, const Architecture& a) {
        out.set_bool("gptneox.use_parallel_residual", a.parallel_residual);
    };
    f.read_gguf_keys = [](const formats::GgufFile& in, Architecture& a) {
        a.parallel_residual = in.flag("gptneox.use_parallel_residual").value_or(true);
    };
    return f;
}

}  // namespace inkling::models
