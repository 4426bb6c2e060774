// Qwen 3 (Yang et al. 2025), transformers' Qwen3ForCausalLM: Llama with an rms norm of each head's queries and keys
// before they are rotated, and heads whose width is a choice of its own.
#include "models/families/llama_line.h"

namespace inkling::models {

Family qwen3_family() {
    Family f = llama_line_family("qwen3");
    f.defaults = [](bool bias) {
        Architecture a = llama_line_defaults("qwen3");
        a.qkv_bias = a.attention_bias = bias;
        a.head_norm = HeadNorm::before_rotary;
        a.head_norm_gain = true;
        return a;
    };
    f.to_json = [](const Architecture& a) {
        nlohmann::json j = qwen_json(a, "Qwen3ForCausalLM");
        j["attention_bias"] = a.qkv_bias;
        return j;
    };
    f.from_json = [](const ConfigReader& in) {
        Architecture a = family("qwen3").defaults(in.flag("attention_bias", false));
        read_qwen(in, a, {.context = 32768, .head_dim = 128, .kv_heads = 32});
        return a;
    };
    f.set_gguf_keys = [](formats::GgufWriter&, const Architecture& a) {
        check<BadInput>(!a.attention_bias,
                        "gguf: llama.cpp's qwen3 has no bias behind attention: train with --no-bias, or "
                        "export a folder with --format hf");
    };
    return f;
}

}  // namespace inkling::models
