// nanochat's model (Karpathy 2025), transformers' NanoChatForCausalLM: rotary positions the other way round, norms
// without weights, queries and keys normed after they are rotated, heads of keys and values that query heads share,
// squared relu, a norm behind the token table, and a head of its own whose logits are capped.
#include "models/families/config_reader.h"
#include "models/families/family.h"

namespace inkling::models {
namespace nanochat {

using nlohmann::json;

Architecture defaults(bool bias) {
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
}

json to_json(const Architecture& a) {
    json j = rotary_sizes_json(a);
    j.update({{"architectures", {"NanoChatForCausalLM"}},
              {"attention_bias", a.qkv_bias},
              {"pad_token_id", nullptr},
              {"final_logit_softcapping", a.softcap > 0 ? json(a.softcap) : json(nullptr)},
              {"hidden_act", "relu2"}});
    return j;
}

Architecture from_json(const ConfigReader& in) {
    in.require_activation("hidden_act", Activation::squared_relu);
    in.require_flag("tie_word_embeddings", false);
    Architecture a = defaults(in.flag("attention_bias", false));
    in.read_rotary_sizes(a, {.context = 2048});
    a.softcap = in.number("final_logit_softcapping", in.names("final_logit_softcapping") ? 0 : 15);
    in.require(a.softcap > 0 || !in.has("final_logit_softcapping"),
               "final_logit_softcapping must be above 0, or null, got {}", in.shown("final_logit_softcapping"));
    in.require(a.head_dim == 0, "head_dim must be hidden_size / num_attention_heads");
    return a;
}

}  // namespace nanochat

Family nanochat_family() {
    using namespace nanochat;
    using enum ParameterName;
    return {.name = "nanochat",
            .model_types = {"nanochat"},
            .flags = {"n-kv-head", "n-inner", "rope-theta", "softcap"},
            .biased = false,
            .defaults = defaults,
            .to_json = to_json,
            .from_json = from_json,
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
}

}  // namespace inkling::models
