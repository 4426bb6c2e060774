// Qwen 3 (Yang et al. 2025), transformers' Qwen3ForCausalLM: Llama with an rms norm of each head's queries and keys
// before they are rotated, and heads whose width is a choice of its own.
#include "models/families/llama_line.h"

namespace inkling::models {
namespace qwen3 {

using nlohmann::json;

Architecture defaults(bool bias) {
    Architecture a = llama_line_defaults("qwen3");
    a.qkv_bias = a.attention_bias = bias;
    a.head_norm = HeadNorm::before_rotary;
    a.head_norm_gain = true;
    return a;
}

json to_json(const Architecture& a) {
    json j = llama_line_json(a, "Qwen3ForCausalLM");
    j.update({{"attention_bias", a.qkv_bias}, {"use_sliding_window", false}});
    return j;
}

Architecture from_json(const ConfigReader& in) {
    Architecture a = defaults(in.flag("attention_bias", false));
    read_llama_line(in, a, {.context = 32768, .head_dim = 128, .kv_heads = 32});
    check_sliding_layers(in, a);
    return a;
}

void check_gguf(formats::GgufWriter&, const Architecture& a) {
    check<BadInput>(!a.attention_bias,
                    "gguf: llama.cpp's qwen3 has no bias behind attention: train with --no-bias, or "
                    "export a folder with --format hf");
}

}  // namespace qwen3

Family qwen3_family() {
    using namespace qwen3;
    Family f = llama_line_family("qwen3");
    f.defaults = defaults, f.to_json = to_json, f.from_json = from_json;
    f.set_gguf_keys = check_gguf;
    return f;
}

}  // namespace inkling::models
