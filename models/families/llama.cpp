// Llama (Touvron et al. 2023), transformers' LlamaForCausalLM, and Mistral (Jiang et al. 2023), which is the same but
// for a window of attention: rms norms with gains, rotary positions, heads of keys and values that query heads share, a
// gated feed-forward part with silu, and a head that may be the token table.
#include "models/families/llama_line.h"

namespace inkling::models {

Family llama_family() {
    Family f = llama_line_family("llama");
    f.model_types.push_back("mistral");
    f.defaults = [](bool bias) {
        Architecture a = llama_line_defaults("llama");
        a.qkv_bias = a.attention_bias = a.mlp_bias = bias;
        return a;
    };
    f.to_json = [](const Architecture& a) {
        nlohmann::json j = llama_line_json(a, "LlamaForCausalLM");
        j.update({{"attention_bias", a.qkv_bias}, {"mlp_bias", a.mlp_bias}});
        if (a.window > 0)
            j.update(
                {{"architectures", {"MistralForCausalLM"}}, {"model_type", "mistral"}, {"sliding_window", a.window}});
        return j;
    };
    f.from_json = [](const ConfigReader& in) {
        Architecture a = family("llama").defaults(in.flag("attention_bias", false));
        a.mlp_bias = in.flag("mlp_bias", false);
        const bool mistral = in.text("model_type", "llama") == "mistral";
        read_llama_line(in, a,
                        mistral ? SizeDefaults{.context = 131072, .kv_heads = 8} : SizeDefaults{.context = 2048});
        if (mistral) a.window = sliding_window(in, a);
        return a;
    };
    f.gguf_interleaved = true;
    return f;
}

}  // namespace inkling::models
