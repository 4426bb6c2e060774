// Llama (Touvron et al. 2023), transformers' LlamaForCausalLM: rms norms with gains, rotary positions, heads of keys
// and values that query heads share, a gated feed-forward part with silu, and a head that may be the token table.
#include "formats/gguf.h"
#include "models/families/config_reader.h"
#include "models/families/family.h"

namespace inkling::models {
namespace {

using nlohmann::json;

Architecture defaults(bool bias) {
    Architecture a;
    a.family = "llama";
    a.packed_qkv = a.stream_dropout = false;
    a.norm = NormKind::rms;
    a.norm_bias = false;
    a.norm_epsilon = 1e-6;
    a.positions = Positions::rotary;
    a.qkv_bias = a.attention_bias = a.mlp_bias = bias;
    a.activation = Activation::silu;
    a.gated = true;
    a.tied_head = false;
    return a;
}

json to_json(const Architecture& a) {
    return {{"architectures", {"LlamaForCausalLM"}},
            {"attention_bias", a.qkv_bias},
            {"mlp_bias", a.mlp_bias},
            {"attention_dropout", a.dropout},
            {"head_dim", a.head_size()},
            {"hidden_act", "silu"},
            {"hidden_size", a.n_embd},
            {"intermediate_size", a.inner()},
            {"max_position_embeddings", a.block_size},
            {"num_attention_heads", a.n_head},
            {"num_hidden_layers", a.n_layer},
            {"num_key_value_heads", a.kv_heads()},
            {"rms_norm_eps", a.norm_epsilon},
            {"rope_parameters", {{"rope_theta", a.rope_theta}, {"rope_type", "default"}}}};
}

Architecture from_json(const ConfigReader& in) {
    in.require_text("hidden_act", "silu");
    Architecture a = defaults(in.flag("attention_bias", false));
    a.mlp_bias = in.flag("mlp_bias", false);
    in.read_rotary_sizes(a);
    a.norm_epsilon = in.positive("rms_norm_eps", 1e-6);
    a.tied_head = in.flag("tie_word_embeddings", false);
    return a;
}

void set_gguf_keys(formats::GgufWriter& out, const Architecture& a) {
    const auto size = [&](const char* key, std::size_t n) { out.set_u32(key, static_cast<std::uint32_t>(n)); };
    size("llama.block_count", a.n_layer);
    size("llama.context_length", a.block_size);
    size("llama.embedding_length", a.n_embd);
    size("llama.feed_forward_length", a.inner());
    size("llama.attention.head_count", a.n_head);
    size("llama.attention.head_count_kv", a.kv_heads());
    size("llama.attention.key_length", a.head_size());
    size("llama.attention.value_length", a.head_size());
    size("llama.rope.dimension_count", a.head_size());
    out.set_f32("llama.attention.layer_norm_rms_epsilon", static_cast<float>(a.norm_epsilon));
    out.set_f32("llama.rope.freq_base", static_cast<float>(a.rope_theta));
}

}  // namespace

Family llama_family() {
    return {.name = "llama",
            .biased = false,
            .defaults = defaults,
            .to_json = to_json,
            .from_json = from_json,
            .layer_prefix = "model.layers.",
            .names = {{Part::token_table, "model.embed_tokens"},
                      {Part::attention_norm, "input_layernorm"},
                      {Part::query, "self_attn.q_proj"},
                      {Part::key, "self_attn.k_proj"},
                      {Part::value, "self_attn.v_proj"},
                      {Part::attention_output, "self_attn.o_proj"},
                      {Part::mlp_norm, "post_attention_layernorm"},
                      {Part::gate, "mlp.gate_proj"},
                      {Part::up, "mlp.up_proj"},
                      {Part::down, "mlp.down_proj"},
                      {Part::final_norm, "model.norm"},
                      {Part::head, "lm_head"}},
            .ignored = {".rotary_emb.inv_freq"},  // buffers of old files
            .set_gguf_keys = set_gguf_keys,
            .gguf_interleaved = true};
}

}  // namespace inkling::models
