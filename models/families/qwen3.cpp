// Qwen 3 (Yang et al. 2025), transformers' Qwen3ForCausalLM: Llama with an rms norm of each head's queries and keys
// before they are rotated, and heads whose width is a choice of its own.
#include "models/families/llama_line.h"

namespace inkling::models {

Family qwen3_family() {
    Family f = llama_line_family("qwen3", "Qwen3ForCausalLM");
    f.defaults = [](bool bias) {
        Architecture a = llama_line_defaults("qwen3");
        a.qkv_bias = a.attention_bias = bias;
        a.head_norm = HeadNorm::before_rotary;
        a.head_norm_gain = true;
        return a;
    };
    f.map_config = [](ConfigKeys& keys, Architecture& a) { map_qwen(keys, a, 128); };
    f.gguf_output_bias = false;
    return f;
}

}  // namespace inkling::models
