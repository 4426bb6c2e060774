// GPT-2 (Radford et al. 2019), transformers' GPT2LMHeadModel: learned positions, layer norms, gelu, one matrix for
// query, key and value, a head tied to the token table. Files hold its linear weights (in, out), Conv1D there.
#include "formats/gguf.h"
#include "models/families/config_reader.h"
#include "models/families/family.h"

namespace inkling::models {
namespace {

using nlohmann::json;

Architecture defaults(bool bias) {
    Architecture a;
    a.family = "gpt2";
    a.norm_bias = a.qkv_bias = a.attention_bias = a.mlp_bias = bias;
    return a;
}

json to_json(const Architecture& a) {
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"activation_function", "gelu_new"},
            {"attn_pdrop", a.dropout},
            {"embd_pdrop", a.dropout},
            {"resid_pdrop", a.dropout},
            {"bias", a.qkv_bias},  // ours: without biases, those of the file are zeros
            {"layer_norm_epsilon", a.norm_epsilon},
            {"n_ctx", a.block_size},
            {"n_embd", a.n_embd},
            {"n_head", a.n_head},
            {"n_inner", nullptr},
            {"n_layer", a.n_layer},
            {"n_positions", a.block_size}};
}

Architecture from_json(const ConfigReader& in) {
    if (in.text("activation_function", "gelu_new") != "gelu_pytorch_tanh")
        in.require_text("activation_function", "gelu_new");
    in.require_flag("scale_attn_weights", true);
    in.require_flag("scale_attn_by_inverse_layer_idx", false);
    in.require_flag("add_cross_attention", false);
    in.require_flag("tie_word_embeddings", true);
    Architecture a = defaults(in.flag("bias", true));
    a.n_layer = in.size("n_layer");
    a.n_head = in.size("n_head");
    a.n_embd = in.size("n_embd");
    a.block_size = in.size("n_positions");
    a.dropout = in.number("resid_pdrop", 0.1);
    a.norm_epsilon = in.positive("layer_norm_epsilon", 1e-5);
    const std::size_t inner = in.size("n_inner", 4 * a.n_embd);
    in.require(inner == 4 * a.n_embd, "n_inner must be 4 n_embd, got {}", inner);
    return a;
}

void set_gguf_keys(formats::GgufWriter& out, const Architecture& a) {
    const auto size = [&](const char* key, std::size_t n) { out.set_u32(key, static_cast<std::uint32_t>(n)); };
    size("gpt2.block_count", a.n_layer);
    size("gpt2.context_length", a.block_size);
    size("gpt2.embedding_length", a.n_embd);
    size("gpt2.feed_forward_length", a.inner());
    size("gpt2.attention.head_count", a.n_head);
    out.set_f32("gpt2.attention.layer_norm_epsilon", static_cast<float>(a.norm_epsilon));
}

}  // namespace

Family gpt2_family() {
    return {.name = "gpt2",
            .biased = true,
            .defaults = defaults,
            .to_json = to_json,
            .from_json = from_json,
            .layer_prefix = "transformer.h.",
            .names = {{Part::token_table, "transformer.wte"},
                      {Part::position_table, "transformer.wpe"},
                      {Part::attention_norm, "ln_1"},
                      {Part::query_key_value, "attn.c_attn"},
                      {Part::attention_output, "attn.c_proj"},
                      {Part::mlp_norm, "ln_2"},
                      {Part::up, "mlp.c_fc"},
                      {Part::down, "mlp.c_proj"},
                      {Part::final_norm, "transformer.ln_f"},
                      {Part::head, "lm_head"}},
            .optional_prefix = "transformer.",               // openai's own files lack it
            .ignored = {".attn.bias", ".attn.masked_bias"},  // buffers of old files: the causal mask
            .linear_in_out = true,
            .always_biased = true,
            .set_gguf_keys = set_gguf_keys};
}

}  // namespace inkling::models
