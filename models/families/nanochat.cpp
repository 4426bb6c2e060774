// nanochat's model (Karpathy 2025), transformers' NanoChatForCausalLM: rotary positions the other way round, norms
// without weights, queries and keys normed after they are rotated, heads of keys and values that query heads share,
// squared relu, a norm behind the token table, and a head of its own whose logits are capped.
#include "models/families/config_keys.h"
#include "models/families/family.h"

namespace inkling::models {

using nlohmann::json;

Family nanochat_family() {
    using enum ParameterName;
    Family f = {.name = "nanochat",
                .model_types = {"nanochat"},
                .flags = {"n-kv-head", "n-inner", "rope-theta", "softcap"},
                .biased = false,
                .transformers_class = "NanoChatForCausalLM",
                .bias_key = "attention_bias",
                .layer_prefix = "model.layers.",
                .names = {{token_table, "model.embed_tokens"},
                          {query, "self_attn.q_proj"},
                          {key, "self_attn.k_proj"},
                          {value, "self_attn.v_proj"},
                          {attention_output, "self_attn.o_proj"},
                          {up, "mlp.fc1"},
                          {down, "mlp.fc2"},
                          {head, "lm_head"}},
                .optional_prefix = "model."};  // NanoChatModel's own files lack it
    f.defaults = [](bool bias) {
        Architecture a;
        a.family = "nanochat";
        a.packed_qkv = a.residual_dropout = false;
        a.norm = NormKind::rms;
        a.norm_gain = a.norm_bias = false;
        a.norm_epsilon = 1e-6;
        a.embedding_norm = true;
        a.positions = Positions::rotary;
        a.rope_clockwise = true;
        a.head_norm = HeadNorm::after_rotary;
        a.qkv_bias = a.attention_bias = bias;
        a.mlp_bias = false;
        a.activation = Activation::squared_relu;
        a.tied_head = false;
        a.softcap = 15;
        return a;
    };
    f.map_config = [](ConfigKeys& keys, Architecture& a) {
        const char* const cap = "final_logit_softcapping";
        keys.require_activation("hidden_act", Activation::squared_relu);
        keys.write("hidden_act", "relu2");
        keys.require_flag("tie_word_embeddings", false);
        map_rotary_sizes(keys, a, {.context = 2048});
        if (keys.reads) a.softcap = keys.number(cap, keys.names(cap) ? 0 : 15);
        keys.require(a.softcap > 0 || !keys.has(cap), "{} must be above 0, or null, got {}", cap, keys.shown(cap));
        keys.write(cap, a.softcap > 0 ? json(a.softcap) : json(nullptr));
        keys.write("pad_token_id", nullptr);
        if (keys.reads) map_head_dim(keys, a);
        keys.require(!keys.reads || a.head_dim == 0, "head_dim must be hidden_size / num_attention_heads");
    };
    return f;
}

}  // namespace inkling::models
