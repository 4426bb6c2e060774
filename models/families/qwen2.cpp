// Qwen 2 (Yang et al. 2024), transformers' Qwen2ForCausalLM: Llama with biases of queries, keys and values, and no
// others.
#include "models/families/llama_line.h"

namespace inkling::models {

Family qwen2_family() {
    Family f = llama_line_family("qwen2");
    f.defaults = [](bool) {
        Architecture a = llama_line_defaults("qwen2");
        a.qkv_bias = true;
        return a;
    };
    f.to_json = [](const Architecture& a) { return qwen_json(a, "Qwen2ForCausalLM"); };
    f.from_json = [](const ConfigReader& in) {
        Architecture a = family("qwen2").defaults(true);
        read_qwen(in, a, {.context = 32768, .kv_heads = 32});
        return a;
    };
    f.always_qkv_biased = true;
    return f;
}

}  // namespace inkling::models
