// Qwen 2 (Yang et al. 2024), transformers' Qwen2ForCausalLM: Llama with biases of queries, keys and values, and no
// others.
#include "models/families/llama_line.h"

namespace inkling::models {

Family qwen2_family() {
    Family f = llama_line_family("qwen2", "Qwen2ForCausalLM");
    f.defaults = [](bool) {
        Architecture a = llama_line_defaults("qwen2");
        a.qkv_bias = true;
        return a;
    };
    f.map_config = [](ConfigKeys& keys, Architecture& a) { map_qwen(keys, a); };
    f.bias_key = "";
    f.always_qkv_biased = true;
    return f;
}

}  // namespace inkling::models
