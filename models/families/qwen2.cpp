// Qwen 2 (Yang et al. 2024), transformers' Qwen2ForCausalLM: Llama with biases of queries, keys and values, and no
// others.
#include "models/families/llama_line.h"

namespace inkling::models {
namespace qwen2 {

using nlohmann::json;

Architecture defaults(bool) {
    Architecture a = llama_line_defaults("qwen2");
    a.qkv_bias = true;
    return a;
}

json to_json(const Architecture& a) {
    json j = llama_line_json(a, "Qwen2ForCausalLM");
    j["use_sliding_window"] = false;
    return j;
}

Architecture from_json(const ConfigReader& in) {
    Architecture a = defaults(true);
    read_llama_line(in, a, {.context = 32768, .kv_heads = 32});
    check_sliding_layers(in, a);
    return a;
}

}  // namespace qwen2

Family qwen2_family() {
    using namespace qwen2;
    Family f = llama_line_family("qwen2");
    f.defaults = defaults, f.to_json = to_json, f.from_json = from_json;
    f.always_qkv_biased = true;
    return f;
}

}  // namespace inkling::models
