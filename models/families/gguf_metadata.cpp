// family.h: the keys of GGUF files and llama.cpp's names of tensors, which all families share.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/gguf/gguf_file.h"
#include "formats/gguf/gguf_writer.h"
#include "models/families/config_keys.h"
#include "models/families/family.h"
#include "models/rotary_positions.h"

namespace inkling::models {
namespace {

// The keys of one file, behind the name of its architecture.
class GgufKeys : public ConfigReader {
  public:
    GgufKeys(const nlohmann::json& values, const formats::GgufFile& file, const std::string& prefix)
        : ConfigReader(values, file.name()), file_(file), prefix_(prefix) {
        place_ += prefix;
    }

    // One number, or a list that repeats it for each layer.
    std::size_t size_of_layers(const char* key, std::size_t layers, std::size_t otherwise = 0) const {
        if (!file_.is_list(prefix_ + key)) return size(key, otherwise);
        const std::vector<double> all = file_.numbers(prefix_ + key, layers);
        for (const double one : all)
            require(one == all[0] && one >= 1 && one <= 1u << 30 && one == std::floor(one),
                    "{} must be the same whole number in each layer, got {} and {}", key, all[0], one);
        return static_cast<std::size_t>(all[0]);
    }
    // A key that llama.cpp reads, and of which Inkling computes only this value.
    void require_number(const char* key, double only) const {
        const double value = number(key, only);
        require(value == only, "{} {} is not supported: {} is", key, value, only);
    }

  private:
    const formats::GgufFile& file_;
    std::string prefix_;
};

// rope_freqs.weight holds what rope_type llama3 divides the rates by, and not the numbers that it follows from: these
// are those of Llama 3.1 and 3.2, with any context of the first training that is a power of two.
RopeOptions llama3_scaling(const formats::GgufFile& file, Architecture a) {
    std::vector<float> factors(a.rotary_size() / 2);
    file.read("rope_freqs.weight", factors.data(), factors.size());
    a.rope = {RopeScaling::llama3, static_cast<double>(*std::max_element(factors.begin(), factors.end())), 1, 4, 0};
    for (a.rope.original = 1; a.rope.original <= 1u << 24; a.rope.original *= 2) {
        const std::vector<double> divisors = rotary_divisors(a);
        if (std::equal(factors.begin(), factors.end(), divisors.begin(),
                       [](float x, double y) { return std::abs(static_cast<double>(x) - y) < 1e-5 * y; }))
            return a.rope;
    }
    throw BadInput(file.name() + ": rope_freqs.weight is not supported: its factors are not those of rope_type llama3");
}

// Without a type, a factor scales linearly; a factor of 0 does not scale.
void read_rope_scaling(const formats::GgufFile& file, const GgufKeys& in, Architecture& a) {
    const std::string type = in.text("rope.scaling.type", "linear");
    in.require(type == "linear" || type == "none", "rope.scaling.type '{}' is not supported: linear and none are",
               shown_name(type));
    in.require_number("rope.scaling.attn_factor", 1);
    const double factor = in.number("rope.scaling.factor", in.number("rope.scale_linear", 0));
    in.require(factor >= 0, "rope.scaling.factor must be above 0, got {}", factor);
    const bool scaled = type == "linear" && factor != 0 && factor != 1;
    if (scaled) a.rope = {.scaling = RopeScaling::linear, .factor = factor};
    if (!file.contains("rope_freqs.weight")) return;
    in.require(!scaled, "rope.scaling.factor {} beside rope_freqs.weight is not supported", factor);
    a.rope = llama3_scaling(file, a);
}

void read_rotary(const formats::GgufFile& file, const GgufKeys& in, Architecture& a) {
    a.rope_theta = in.positive("rope.freq_base", in.number("rope.global.freq_base", 10000));  // global: Ollama's
    const std::size_t d = a.head_size(), r = in.size("rope.dimension_count", d);
    in.require(r == d || (a.rotary_part < 1 && r < d), "rope.dimension_count must be {}, the width of a head, got {}",
               d, r);
    a.rotary_part = static_cast<double>(r) / static_cast<double>(d);
    if (a.rotary_size() != r) a.rotary_part = std::nextafter(a.rotary_part, 1);
    read_rope_scaling(file, in, a);
    if (a.local_rope_theta == 0 || a.window == 0) return;
    in.require_number("rope.dimension_count_swa", static_cast<double>(r));
    in.require_number("attention.key_length_swa", static_cast<double>(d));
    in.require_number("attention.value_length_swa", static_cast<double>(d));
}

// The family with this name in GGUF files.
const Family& gguf_family(const formats::GgufFile& file) {
    const std::string type(file.text("general.type").value_or("model")),
        name(file.text("general.architecture").value_or(""));
    check<BadInput>(type == "model", "{}: general.type is '{}': a file of a whole model is required", file.name(),
                    shown_name(type));
    std::vector<std::string> known;
    for (const Family& f : families()) {
        if (f.gguf_name.empty()) continue;
        if (f.gguf_name == name) return f;
        known.push_back(f.gguf_name);
    }
    throw BadInput(fmt::format("{}: architecture '{}' is not supported: {} are", file.name(), shown_name(name),
                               fmt::join(known, ", ")));
}

}  // namespace

std::string gguf_name(const ParameterSpec& p) {
    using enum ParameterName;
    static const std::map<ParameterName, std::string> names = {{token_table, "token_embd"},
                                                               {position_table, "position_embd"},
                                                               {final_norm, "output_norm"},
                                                               {head, "output"},
                                                               {attention_norm, "attn_norm"},
                                                               {query_key_value, "attn_qkv"},
                                                               {query, "attn_q"},
                                                               {key, "attn_k"},
                                                               {value, "attn_v"},
                                                               {query_norm, "attn_q_norm"},
                                                               {key_norm, "attn_k_norm"},
                                                               {attention_output, "attn_output"},
                                                               {attention_output_norm, "post_attention_norm"},
                                                               {mlp_norm, "ffn_norm"},
                                                               {gate, "ffn_gate"},
                                                               {up, "ffn_up"},
                                                               {down, "ffn_down"},
                                                               {mlp_output_norm, "post_ffw_norm"}};
    const std::string place = in_layer(p.name) ? "blk." + std::to_string(p.layer) + "." : "";
    static const char* const ends[] = {".weight", ".bias", ".weight.lora_a", ".weight.lora_b"};
    return place + names.at(p.name) + ends[static_cast<std::size_t>(p.slot)];
}

void set_gguf_architecture(formats::GgufWriter& out, const Architecture& a) {
    const Family& f = family(a.family);
    const auto size = [&](const char* key, std::size_t n) {
        out.set_u32(f.gguf_name + "." + key, static_cast<std::uint32_t>(n));
    };
    const auto number = [&](const char* key, double x) { out.set_f32(f.gguf_name + "." + key, static_cast<float>(x)); };
    const bool rotary = a.positions == Positions::rotary;
    size("block_count", a.n_layer);
    // Without a window llama.cpp computes the same as long as it holds the context.
    size("context_length", f.gguf_windows || a.window == 0 ? a.block_size : std::min(a.block_size, a.window));
    size("embedding_length", a.n_embd);
    size("feed_forward_length", a.inner());
    size("attention.head_count", a.n_head);
    if (!a.packed_qkv) {
        size("attention.head_count_kv", a.kv_heads());
        size("attention.key_length", a.head_size());
        size("attention.value_length", a.head_size());
    }
    if (rotary) size("rope.dimension_count", a.rotary_size());
    number(a.norm == NormKind::rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon",
           a.norm_epsilon);
    if (rotary) number("rope.freq_base", a.rope_theta);
    if (a.rope.scaling == RopeScaling::linear) {
        out.set_text(f.gguf_name + ".rope.scaling.type", "linear");
        number("rope.scaling.factor", a.rope.factor);
    }
    check<BadInput>(a.rope.scaling != RopeScaling::llama3 || f.gguf_interleaved,
                    "gguf: llama.cpp's {} has no rope_type llama3: export a folder with --format hf", f.gguf_name);
    check<BadInput>(f.gguf_output_bias || !a.attention_bias,
                    "gguf: llama.cpp's {} has no bias behind attention: train with --no-bias, or export a folder with "
                    "--format hf",
                    f.gguf_name);
    // It looks gelu up in a table that is coarser than the difference of gelu_tanh and gelu_erf.
    const bool gelu = a.activation == Activation::gelu_tanh || a.activation == Activation::gelu_erf;
    check<BadInput>(gelu || a.gated, "gguf: llama.cpp's {} has gelu alone, not {}: export a folder with --format hf",
                    f.gguf_name, activation_name(a.activation));
    if (f.set_gguf_keys) f.set_gguf_keys(out, a);
}

Architecture read_gguf_architecture(const formats::GgufFile& file) {
    const Family& f = gguf_family(file);
    const nlohmann::json values = file.under(f.gguf_name + ".");
    const GgufKeys in(values, file, f.gguf_name + ".");
    Architecture a = f.defaults(f.biased);
    a.n_layer = in.size("block_count");
    a.block_size = in.size("context_length");
    a.n_embd = in.size("embedding_length");
    a.n_head = in.size_of_layers("attention.head_count", a.n_layer);
    a.set_inner(in.size_of_layers("feed_forward_length", a.n_layer));
    a.set_kv_heads(in.size_of_layers("attention.head_count_kv", a.n_layer, a.n_head));
    const std::size_t width = in.size("attention.key_length", std::max<std::size_t>(1, a.n_embd / a.n_head));
    a.set_head_size(width);
    in.require(in.size("attention.value_length", width) == width,
               "attention.value_length must be attention.key_length, {}", width);
    in.require_flag("attention.causal", true);
    for (const char* const key : {"expert_count", "expert_used_count", "nextn_predict_layers"})
        in.require_number(key, 0);
    const auto window = static_cast<std::size_t>(in.integer("attention.sliding_window", 0).value_or(0));
    a.window = window < a.block_size || a.local_rope_theta > 0 ? std::min<std::size_t>(window, 1u << 30) : 0;
    a.norm_epsilon =
        in.positive(a.norm == NormKind::rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", 0);
    a.tied_head = !file.contains("output.weight");
    if (!f.always_biased) {
        a.qkv_bias = file.contains("blk.0.attn_q.bias");
        a.attention_bias = file.contains("blk.0.attn_output.bias");
        a.mlp_bias = file.contains("blk.0.ffn_down.bias");
    }
    const auto& table = file.tensor("token_embd.weight");
    check<BadInput>(table.shape.size() == 2 && table.shape[0] <= 1u << 30, "{}: token_embd.weight must be a matrix",
                    file.name());
    a.vocab_size = table.shape[0];
    validate_read(a, file.name());
    if (a.positions == Positions::rotary) read_rotary(file, in, a);
    if (f.read_gguf_keys) f.read_gguf_keys(file, a);
    validate_read(a, file.name());
    return a;
}

}  // namespace inkling::models
