// nanochat's model (Karpathy 2025), transformers' NanoChatForCausalLM: a Llama whose rotary positions turn the other
// way round, with norms without weights, also of queries and keys after they are rotated and behind the token table,
// squared relu without a gate, and a head whose logits are capped.
#include "models/families/llama_line.h"

namespace inkling::models {

using nlohmann::json;

Family nanochat_family() {
    Family f = llama_line_family("nanochat", "NanoChatForCausalLM");
    f.flags = {"n-kv-head", "n-inner", "rope-theta", "softcap"};
    f.ignored = {}, f.gguf_name = "";
    f.names[ParameterName::up] = "mlp.fc1", f.names[ParameterName::down] = "mlp.fc2";
    f.defaults = [](bool bias) {
        Architecture a = llama_line_defaults("nanochat");
        a.norm_gain = false;
        a.embedding_norm = true;
        a.rope_clockwise = true;
        a.head_norm = HeadNorm::after_rotary;
        a.qkv_bias = a.attention_bias = bias;
        a.activation = Activation::squared_relu;
        a.gated = false;
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
