// Gemma 3 (Gemma Team 2025), transformers' Gemma3ForCausalLM, and the text part of its models of pictures and text:
// layers of attention to the last tokens, every sixth to all, with rotary angles of their own for each kind; rms norms
// with gains 1 + weight, also of heads and of what is added to the stream; a gated feed-forward part with gelu; a token
// table that is the head and, scaled, the embedding.
#include <algorithm>

#include "formats/gguf/gguf_file.h"
#include "formats/gguf/gguf_writer.h"
#include "models/families/llama_line.h"

namespace inkling::models {
namespace gemma3 {

using nlohmann::json;

constexpr std::size_t kGlobalEvery = 6;
constexpr double kLocalTheta = 10000;
constexpr const char *kLocal = "sliding_attention", *kGlobal = "full_attention";  // kinds of layers

Architecture defaults(bool bias) {
    Architecture a = llama_line_defaults("gemma3");
    a.qkv_bias = a.attention_bias = bias;
    a.norm_gain_plus_one = a.post_norms = a.scaled_embedding = a.tied_head = true;
    a.activation = Activation::gelu_tanh;
    a.head_norm = HeadNorm::before_rotary;
    a.head_norm_gain = true;
    a.rope_theta = 1e6, a.local_rope_theta = kLocalTheta;
    a.window = 512, a.global_every = kGlobalEvery;
    return a;
}

// The distance of global layers by a list of which are local: the usual one where it fits.
std::optional<std::size_t> global_every(const std::vector<bool>& local, std::size_t usual) {
    const auto first = static_cast<std::size_t>(std::find(local.begin(), local.end(), false) - local.begin());
    for (const std::size_t every : {usual, first == local.size() ? 0 : first + 1}) {
        Architecture a;
        a.global_every = every;
        std::size_t same = 0;
        while (same < local.size() && a.is_local(same) == local[same]) ++same;
        if (same == local.size()) return every;
    }
    return std::nullopt;
}

// The distance of global layers, by the list of layer types or by the pattern of older files.
std::size_t global_every(const ConfigReader& in, const Architecture& a) {
    const std::vector<std::string> types = in.texts("layer_types");
    const char* const pattern = "sliding_window_pattern";
    const std::size_t usual = in.number(pattern, kGlobalEvery) == 0 ? 0 : in.size(pattern, kGlobalEvery);
    in.require(types.empty() || types.size() == a.n_layer, "layer_types must hold {} types, got {}", a.n_layer,
               types.size());
    std::vector<bool> local;
    bool known = true;
    for (const std::string& type : types) {
        local.push_back(type == kLocal);
        known = known && (local.back() || type == kGlobal);
    }
    const auto every = global_every(local, usual);
    in.require(known && every, "layer_types are not supported: {} with {} in every n-th layer is", kLocal, kGlobal);
    return *every;
}

void read_layers(const ConfigReader& in, Architecture& a) {
    const ConfigReader angles = in.object("rope_parameters"), local = angles.object(kLocal);
    ConfigKeys both(angles);
    if (angles.has(kGlobal)) map_rope(both, a, "rope_theta", nullptr, kGlobal);
    local.require_text("rope_type", "default");
    a.local_rope_theta = local.positive("rope_theta", in.positive("rope_local_base_freq", kLocalTheta));
    a.window = in.names("sliding_window") && !in.has("sliding_window") ? a.block_size : in.size("sliding_window", 4096);
    a.global_every = global_every(in, a);
}

void write_layers(ConfigKeys& keys, const Architecture& a) {
    json types = json::array();
    for (std::size_t i = 0; i < a.n_layer; ++i) types.push_back(a.is_local(i) ? kLocal : kGlobal);
    const json local = {{"rope_type", "default"}, {"rope_theta", a.local_rope_theta}};
    keys.write("layer_types", types);
    keys.write("rope_local_base_freq", a.local_rope_theta);
    keys.write("rope_parameters", json{{kGlobal, keys.out["rope_parameters"]}, {kLocal, local}});
    keys.write("sliding_window", a.window > 0 ? a.window : a.block_size);
    keys.write("sliding_window_pattern", a.global_every);
}

void map_config(ConfigKeys& keys, Architecture& a) {
    keys.require_activation("hidden_activation", Activation::gelu_tanh);
    keys.write("hidden_activation", "gelu_pytorch_tanh");
    keys.require_flag("use_bidirectional_attention", false);
    for (const char* const cap : {"attn_logit_softcapping", "final_logit_softcapping"})
        keys.require(!keys.has(cap), "{} {} is not supported: models without a cap are", cap, keys.shown(cap));
    map_rotary_sizes(keys, a, {.context = 131072, .kv_heads = 4, .heads = 8});
    map_head_dim(keys, a, 256);
    std::size_t score_width = a.score_size();
    keys.map("query_pre_attn_scalar", score_width, 256);
    a.score_width = score_width == a.head_size() ? 0 : score_width;
    if (keys.reads) a.vocab_size = 262208;  // where it is missing
    keys.reads ? read_layers(keys, a) : write_layers(keys, a);
}

// llama.cpp knows the largest model by its layers, and takes another scale of scores for it.
std::size_t gguf_score_width(const Architecture& a) { return a.n_layer == 62 ? a.n_embd / a.n_head : a.head_size(); }

void set_gguf_keys(formats::GgufWriter& out, const Architecture& a) {
    const std::size_t width = a.score_size();
    check<BadInput>(width == gguf_score_width(a),
                    "gguf: llama.cpp's gemma3 divides scores by the root of {}, not of {}: export a folder with "
                    "--format hf",
                    gguf_score_width(a), width);
    if (a.global_every == 1) return;
    const auto size = [&](const char* key, std::size_t n) { out.set_u32(key, static_cast<std::uint32_t>(n)); };
    size("gemma3.attention.sliding_window", a.window > 0 ? a.window : a.block_size);
    if (a.global_every != kGlobalEvery) size("gemma3.attention.sliding_window_pattern", a.global_every);
    out.set_f32("gemma3.rope.freq_base_swa", static_cast<float>(a.local_rope_theta));
}

// By llama.cpp's distance, or by Ollama's list of which layers are local.
std::size_t global_every(const formats::GgufFile& in, std::size_t layers) {
    const std::string key = "gemma3.attention.sliding_window_pattern";
    if (!in.is_list(key)) return in.size(key).value_or(kGlobalEvery);
    const std::vector<double> flags = in.numbers(key, layers);
    const auto every = global_every(std::vector<bool>(flags.begin(), flags.end()), kGlobalEvery);
    check<BadInput>(every.has_value(), "{}: {} is not supported: true with false in every n-th layer is", in.name(),
                    key);
    return *every;
}

void read_gguf_keys(const formats::GgufFile& in, Architecture& a) {
    check<BadInput>(in.number("gemma3.final_logit_softcapping").value_or(0) == 0,
                    "{}: gemma3.final_logit_softcapping is not supported", in.name());
    const auto ollama = in.number("gemma3.rope.local.freq_base");
    a.local_rope_theta = in.number("gemma3.rope.freq_base_swa").value_or(ollama.value_or(kLocalTheta));
    check<BadInput>(a.local_rope_theta > 0, "{}: gemma3.rope.freq_base_swa must be above 0, got {}", in.name(),
                    a.local_rope_theta);
    a.global_every = a.window == 0 ? 1 : global_every(in, a.n_layer);
    if (gguf_score_width(a) != a.head_size()) a.score_width = gguf_score_width(a);
}

}  // namespace gemma3

Family gemma3_family() {
    using namespace gemma3;
    Family f = llama_line_family("gemma3", "Gemma3ForCausalLM");
    f.model_types = {"gemma3_text", "gemma3"};
    f.defaults = defaults, f.map_config = map_config;
    f.names[ParameterName::mlp_norm] = "pre_feedforward_layernorm";
    f.names[ParameterName::attention_output_norm] = "post_attention_layernorm";
    f.names[ParameterName::mlp_output_norm] = "post_feedforward_layernorm";
    f.other_prefixes = {"language_model.model.", "model.language_model."};
    f.ignored = {"vision_tower.", "multi_modal_projector."};
    f.set_gguf_keys = set_gguf_keys, f.read_gguf_keys = read_gguf_keys;
    f.gguf_windows = true, f.gguf_output_bias = false;
    return f;
}

}  // namespace inkling::models
