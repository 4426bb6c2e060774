// GPT-NeoX (Black et al. 2022; Pythia, Biderman et al. 2023), transformers' GPTNeoXForCausalLM: layer norms, rotary
// positions of a part of each head, gelu, a head of its own, and layers whose attention and feed-forward part read the
// same. Files hold the rows of query_key_value head by head.
#include "formats/gguf/gguf_file.h"
#include "formats/gguf/gguf_writer.h"
#include "models/families/config_reader.h"
#include "models/families/family.h"

namespace inkling::models {
namespace gpt_neox {

using nlohmann::json;

Architecture defaults(bool bias) {
    Architecture a;
    a.family = "gpt-neox";
    a.norm_bias = a.qkv_bias = a.attention_bias = a.mlp_bias = bias;
    a.positions = Positions::rotary;
    a.rotary_part = 0.25;
    a.parallel_residual = true;
    a.activation = Activation::gelu_erf;
    a.tied_head = false;
    return a;
}

json to_json(const Architecture& a) {
    json j = {{"architectures", {"GPTNeoXForCausalLM"}},
              {"attention_bias", true},
              {"attention_dropout", a.dropout},
              {"bias", a.qkv_bias},  // ours: without biases, those of the file are zeros
              {"hidden_act", activation_name(a.activation)},
              {"hidden_dropout", a.dropout},
              {"hidden_size", a.n_embd},
              {"intermediate_size", a.inner()},
              {"layer_norm_eps", a.norm_epsilon},
              {"max_position_embeddings", a.block_size},
              {"num_attention_heads", a.n_head},
              {"num_hidden_layers", a.n_layer},
              {"use_parallel_residual", a.parallel_residual}};
    j.update(rotary_json(a));
    j["rope_parameters"]["partial_rotary_factor"] = j["rotary_pct"] = a.rotary_part;
    j["rotary_emb_base"] = a.rope_theta;
    return j;
}

Architecture from_json(const ConfigReader& in) {
    in.require_flag("attention_bias", true);
    Architecture a = defaults(in.flag("bias", true));
    a.activation = in.activation("hidden_act", Activation::gelu_erf);
    a.n_layer = in.size("num_hidden_layers");
    a.n_head = in.size("num_attention_heads");
    a.n_embd = in.size("hidden_size");
    a.set_inner(in.size("intermediate_size"));
    a.block_size = in.size("max_position_embeddings", 2048);
    a.dropout = in.number("hidden_dropout", 0);
    a.norm_epsilon = in.positive("layer_norm_eps", 1e-5);
    a.parallel_residual = in.flag("use_parallel_residual", true);
    a.rotary_part = in.read_rope(a, "rotary_emb_base", "rotary_pct", 0.25);
    return a;
}

void set_gguf_keys(formats::GgufWriter& out, const Architecture& a) {
    check<BadInput>(a.activation == Activation::gelu_tanh || a.activation == Activation::gelu_erf,
                    "gguf: llama.cpp's GPT-NeoX has gelu alone, not {}: export a folder with --format hf",
                    activation_name(a.activation));
    out.set_bool("gptneox.use_parallel_residual", a.parallel_residual);
}

void read_gguf_keys(const formats::GgufFile& in, Architecture& a) {
    a.parallel_residual = in.flag("gptneox.use_parallel_residual").value_or(true);
}

}  // namespace gpt_neox

Family gpt_neox_family() {
    using namespace gpt_neox;
    using enum ParameterName;
    return {.name = "gpt-neox",
            .model_types = {"gpt_neox"},
            .flags = {"n-inner", "rope-theta"},
            .biased = true,
            .defaults = defaults,
            .to_json = to_json,
            .from_json = from_json,
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
            .gguf_untied = true,
            .set_gguf_keys = set_gguf_keys,
            .read_gguf_keys = read_gguf_keys};
}

}  // namespace inkling::models
