// Llama (Touvron et al. 2023), transformers' LlamaForCausalLM, and Mistral (Jiang et al. 2023), which is the same but
// for a window of attention: rms norms with gains, rotary positions, heads of keys and values that query heads share, a
// gated feed-forward part with silu, and a head that may be the token table.
#include "models/families/llama_line.h"

namespace inkling::models {

Family llama_family() {
    Family f = llama_line_family("llama", "LlamaForCausalLM");
    f.model_types.push_back("mistral");
    f.defaults = [](bool bias) {
        Architecture a = llama_line_defaults("llama");
        a.qkv_bias = a.attention_bias = a.mlp_bias = bias;
        return a;
    };
    f.map_config = [](ConfigKeys& keys, Architecture& a) {
        const bool mistral = keys.reads ? keys.text("model_type", "llama") == "mistral" : a.window > 0;
        map_llama_line(keys, a,
                       mistral ? SizeDefaults{.context = 131072, .kv_heads = 8} : SizeDefaults{.context = 2048});
        keys.map("mlp_bias", a.mlp_bias, false);
        if (!mistral) return;
        if (keys.reads) a.window = sliding_window(keys, a);
        keys.write("architectures", nlohmann::json::array({"MistralForCausalLM"}));
        keys.write("model_type", "mistral");
        keys.write("sliding_window", a.window);
    };
    f.gguf_interleaved = true;
    return f;
}

}  // namespace inkling::models
