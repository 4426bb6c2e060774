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

Architecture defaults(bool bias) {
    Architecture a = llama_line_defaults("gemma3");
    a.qkv_bias = a.attention_bias = bias;
    a.norm_gain_plus_one = a.part_norms = a.scaled_embedding = a.tied_head = true;
    a.activation = Activation::gelu_tanh;
    a.head_norm = HeadNorm::before_rotary;
    a.head_norm_gain = true;
    a.rope_theta = 1e6, a.local_rope_theta = kLocalTheta;
    a.window = 512, a.global_every = kGlobalEvery;
    return a;
}

const char* layer_type(const Architecture& a, std::size_t layer) {
    return a.is_local(layer) ? "sliding_attention" : "full_attention";
}

json to_json(const Architecture& a) {
    json j = rotary_sizes_json(a), types = json::array();
    for (std::size_t i = 0; i < a.n_layer; ++i) types.push_back(layer_type(a, i));
    const json local = {{"rope_type", "default"}, {"rope_theta", a.local_rope_theta}};
    j["rope_parameters"] = {{"full_attention", j["rope_parameters"]}, {"sliding_attention", local}};
    j.update({{"architectures", {"Gemma3ForCausalLM"}},
              {"attention_bias", a.qkv_bias},
              {"head_dim", a.head_size()},
              {"hidden_activation", "gelu_pytorch_tanh"},
              {"layer_types", types},
              {"query_pre_attn_scalar", a.score_size()},
              {"rope_local_base_freq", a.local_rope_theta},
              {"sliding_window", a.window > 0 ? a.window : a.block_size},
              {"sliding_window_pattern", a.global_every}});
    return j;
}

// The distance of global layers, by the list of layer types or by the pattern of older files.
std::size_t global_every(const ConfigReader& in, const Architecture& a) {
    const std::vector<std::string> types = in.texts("layer_types");
    Architecture read = a;
    const char* const pattern = "sliding_window_pattern";
    read.global_every = in.number(pattern, kGlobalEvery) == 0 ? 0 : in.size(pattern, kGlobalEvery);
    const auto fits = [&] {
        in.require(types.empty() || types.size() == a.n_layer, "layer_types must hold {} types, got {}", a.n_layer,
                   types.size());
        for (std::size_t i = 0; i < types.size(); ++i)
            if (types[i] != layer_type(read, i)) return false;
        return true;
    };
    if (fits()) return read.global_every;
    const auto global = std::find(types.begin(), types.end(), "full_attention");
    read.global_every = global == types.end() ? 0 : static_cast<std::size_t>(global - types.begin()) + 1;
    in.require(fits(), "layer_types are not supported: sliding_attention with full_attention in every n-th layer is");
    return read.global_every;
}

Architecture from_json(const ConfigReader& in) {
    in.require_activation("hidden_activation", Activation::gelu_tanh);
    in.require_flag("use_bidirectional_attention", false);
    for (const char* const cap : {"attn_logit_softcapping", "final_logit_softcapping"})
        in.require(!in.has(cap), "{} {} is not supported: null is", cap, in.shown(cap));
    Architecture a = defaults(in.flag("attention_bias", false));
    a.vocab_size = 262208;
    in.read_rotary_sizes(a, {.context = 131072, .head_dim = 256, .kv_heads = 4, .heads = 8});
    const ConfigReader angles = in.object("rope_parameters"), local = angles.object("sliding_attention");
    const char* const global = "full_attention";
    if (angles.has(global))
        angles.require(angles.read_rope(a, "rope_theta", "partial_rotary_factor", 1, global) == 1,
                       "partial_rotary_factor must be 1: rotary positions turn the whole of a head");
    local.require_text("rope_type", "default");
    a.local_rope_theta = local.positive("rope_theta", in.positive("rope_local_base_freq", kLocalTheta));
    a.norm_epsilon = in.positive("rms_norm_eps", 1e-6);
    a.tied_head = in.flag("tie_word_embeddings", true);
    a.score_width = in.size("query_pre_attn_scalar", 256);
    if (a.score_width == a.head_size()) a.score_width = 0;
    a.window = in.names("sliding_window") && !in.has("sliding_window") ? a.block_size : in.size("sliding_window", 4096);
    a.global_every = global_every(in, a);
    return a;
}

// llama.cpp knows the largest model by its layers, and takes another scale of scores for it.
std::size_t gguf_score_width(const Architecture& a) { return a.n_layer == 62 ? a.n_embd / a.n_head : a.head_size(); }

void set_gguf_keys(formats::GgufWriter& out, const Architecture& a) {
    const std::size_t width = a.score_size();
    check<BadInput>(width == gguf_score_width(a),
                    "gguf: llama.cpp's gemma3 divides scores by the root of {}, not of {}: export a folder with "
                    "--format hf",
                    gguf_score_width(a), width);
    check<BadInput>(!a.attention_bias,
                    "gguf: llama.cpp's gemma3 has no bias behind attention: train with --no-bias, or export a folder "
                    "with --format hf");
    if (a.global_every == 1) return;
    const auto size = [&](const char* key, std::size_t n) { out.set_u32(key, static_cast<std::uint32_t>(n)); };
    size("gemma3.attention.sliding_window", a.window > 0 ? a.window : a.block_size);
    if (a.global_every != kGlobalEvery) size("gemma3.attention.sliding_window_pattern", a.global_every);
    out.set_f32("gemma3.rope.freq_base_swa", static_cast<float>(a.local_rope_theta));
}

void read_gguf_keys(const formats::GgufFile& in, Architecture& a) {
    check<BadInput>(in.number("gemma3.final_logit_softcapping").value_or(0) == 0,
                    "{}: gemma3.final_logit_softcapping is not supported", in.name());
    a.local_rope_theta = in.number("gemma3.rope.freq_base_swa").value_or(kLocalTheta);
    a.global_every = a.window == 0 ? 1 : in.size("gemma3.attention.sliding_window_pattern").value_or(kGlobalEvery);
    if (gguf_score_width(a) != a.head_size()) a.score_width = gguf_score_width(a);
}

}  // namespace gemma3

Family gemma3_family() {
    using namespace gemma3;
    Family f = llama_line_family("gemma3");
    f.model_types = {"gemma3_text", "gemma3"};
    f.defaults = defaults, f.to_json = to_json, f.from_json = from_json;
    for (auto& [part, name] : f.names)
        if (part == Part::mlp_norm) name = "pre_feedforward_layernorm";
    f.names.emplace_back(Part::attention_output_norm, "post_attention_layernorm");
    f.names.emplace_back(Part::mlp_output_norm, "post_feedforward_layernorm");
    f.other_prefixes = {"language_model.model.", "model.language_model."};
    f.ignored = {"vision_tower.", "multi_modal_projector."};
    f.set_gguf_keys = set_gguf_keys, f.read_gguf_keys = read_gguf_keys;
    f.gguf_windows = true;
    return f;
}

}  // namespace inkling::models
