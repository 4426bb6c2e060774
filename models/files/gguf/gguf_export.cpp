#include "models/files/gguf/gguf_export.h"

#include <algorithm>

#include "engine/base/check.h"
#include "models/families/as_qwen3.h"
#include "models/families/family.h"
#include "models/files/gguf/gguf_tokenizer.h"
#include "models/files/stored_weights.h"
#include "models/rotary_positions.h"

namespace inkling::models {
namespace {

std::uint32_t file_type(formats::GgufType type) {  // llama.cpp's llama_ftype
    using formats::GgufType;
    return type == GgufType::F16    ? 1
           : type == GgufType::Q4_0 ? 2
           : type == GgufType::Q8_0 ? 7
           : type == GgufType::Q4_K ? 15
           : type == GgufType::BF16 ? 32
                                    : 0;
}

// llama.cpp's Q4_K_M: more bits where 4 cost most.
formats::GgufType q4_k_m(const std::string& name, std::size_t layer, const Architecture& a, bool own_head) {
    using formats::GgufType;
    const std::size_t n = a.n_layer;
    const bool more = layer < n / 8 || layer >= 7 * n / 8 || (layer - n / 8) % 3 == 2;
    if (name == (own_head ? "output.weight" : "token_embd.weight")) return GgufType::Q6_K;
    if (name.ends_with("attn_qkv.weight")) return GgufType::Q5_K;
    return more && (name.ends_with("attn_v.weight") || name.ends_with("ffn_down.weight")) ? GgufType::Q6_K
                                                                                          : GgufType::Q4_K;
}

struct StoredType {
    formats::GgufType type;
    const Architecture& a;
    bool own_head;  // in the file

    formats::GgufType of(const std::string& name, const Shape& shape, std::size_t layer) const {
        using formats::GgufType;
        if (shape.size() < 2 || name == "position_embd.weight") return GgufType::F32;
        const bool words = name == "token_embd.weight" || name == "output.weight";  // 4 bits cost these most
        GgufType best = type == GgufType::Q4_0 && words ? GgufType::Q8_0 : type;
        if (type == GgufType::Q4_K) best = q4_k_m(name, layer, a, own_head);
        const auto fits = [&](GgufType t) { return shape.back() % formats::gguf_layout(t)->block == 0; };
        if (!fits(best))
            best = best == GgufType::Q4_K ? GgufType::Q5_0 : best == GgufType::Q5_K ? GgufType::Q5_1 : GgufType::Q8_0;
        return fits(best) ? best : GgufType::F16;
    }
};

// Whether stored() changes nothing.
bool stored_as_it_is(const Family& f, const Architecture& a, const ParameterSpec& p) {
    const bool query_or_key = p.name == ParameterName::query || p.name == ParameterName::key;
    return !(f.gguf_interleaved && query_or_key) && !adds_one(a, p) &&
           !(a.scale_by_layer && p.name == ParameterName::query_key_value);
}

// What llama.cpp computes with in place of a parameter: rows in its order, and what it does not compute itself. Rows of
// an adapter's B are those of its weight.
ConstArray<float> stored(const Family& f, const Architecture& a, const ParameterSpec& p,
                         const ConstArray<float>& values) {
    if (p.slot == Slot::lora_a || stored_as_it_is(f, a, p)) return values;
    if (f.gguf_interleaved && (p.name == ParameterName::query || p.name == ParameterName::key)) {
        // from (i, i + d/2) of each head, which are rotated as a pair, to (2i, 2i + 1)
        const std::size_t d = a.head_size();
        return swap_rows(values, values.dim(0) / d, 2, d / 2);
    }
    if (adds_one(a, p)) {
        Array<float> gains = values.clone();
        gains += 1.0f;
        return gains;
    }
    if (a.scale_by_layer && p.name == ParameterName::query_key_value) {
        Array<float> scaled = values.clone();
        for (std::size_t i = 0; i < scaled.size() / 3; ++i) scaled.data()[i] /= static_cast<float>(p.layer + 1);
        return scaled;
    }
    return values;
}

}  // namespace

formats::GgufType write_gguf(const std::filesystem::path& path, Transformer<float>& model,
                             const data::Tokenizer& tokenizer, formats::GgufType type, const std::string& name) {
    const Architecture& a = model.config;
    const Family& f = family(a.family);
    if (f.gguf_name.empty()) return write_gguf(path, *as_qwen3(model), tokenizer, type, name);
    const std::vector<ParameterSpec> all = parameters(a);
    const auto in_blocks = [](formats::GgufType t) { return formats::gguf_layout(t)->block > 1; };
    const auto type_of = [&](const std::string& tensor, const Shape& shape, std::size_t layer) {
        return StoredType{type, a, !a.tied_head || f.gguf_untied}.of(tensor, shape, layer);
    };
    if (in_blocks(type) && std::none_of(all.begin(), all.end(), [&](const ParameterSpec& p) {
            return in_blocks(type_of(gguf_name(p), p.shape, p.layer));
        }))
        type = formats::GgufType::F16;
    formats::GgufWriter out;
    out.set_text("general.architecture", f.gguf_name);
    out.set_text("general.name", name);
    set_gguf_architecture(out, a);
    out.set_u32("general.file_type", file_type(type));
    if (in_blocks(type)) out.set_u32("general.quantization_version", 2);
    set_gguf_tokenizer(out, tokenizer, a);

    const auto add = [&](const std::string& tensor, const ParameterSpec& p, formats::NumberParts parts) {
        out.add(tensor, type_of(tensor, p.shape, p.layer), p.shape, std::move(parts));
    };
    const auto add_values = [&](const std::string& tensor, const ParameterSpec& p) {
        add(tensor, p, [&](const auto& part) {
            if (stored_as_it_is(f, a, p))
                model.each_part(p, part);
            else
                part(stored(f, a, p, model.values(p)));
        });
    };
    for (const ParameterSpec& p : all) add_values(gguf_name(p), p);  // weights are (out, in) there as here
    for (const ParameterSpec& p : f.zero_biases(a))
        add(gguf_name(p), p, [shape = p.shape](const auto& part) { part(Array<float>(shape, 0.0f)); });
    if (a.tied_head && f.gguf_untied) add_values("output.weight", all.front());
    if (a.rope.scaling == RopeScaling::llama3) {
        const std::vector<double> divisors = rotary_divisors(a);
        Array<float> factors({divisors.size()});
        std::copy(divisors.begin(), divisors.end(), factors.data());
        out.add("rope_freqs.weight", formats::GgufType::F32, factors.shape(),
                [factors](const auto& part) { part(factors); });
    }
    out.write(path);
    return type;
}

void write_gguf_adapter(const std::filesystem::path& path, Transformer<float>& model, formats::GgufType type,
                        const std::string& name) {
    const Architecture& a = model.config;
    const Family& f = family(a.family);
    check<BadInput>(!f.gguf_name.empty(), "gguf-lora: llama.cpp has no {}: merge the adapter, with --format gguf",
                    a.family);
    check<BadInput>(!model.adapter.changes_tables, "gguf-lora: {}", kTablesChanged);
    formats::GgufWriter out;
    out.set_text("general.architecture", f.gguf_name);
    out.set_text("general.type", "adapter");
    out.set_text("general.name", name);
    out.set_u32("general.file_type", file_type(type));
    out.set_text("adapter.type", "lora");
    // llama.cpp divides it by the rank of each B, and takes 0 for no scale. Adapters with another scale have it in B.
    const double whole = model.adapter.scale() * static_cast<double>(model.adapter.rank),
                 alpha = whole == 0 ? 1 : whole;
    out.set_f32("adapter.lora.alpha", static_cast<float>(alpha));
    const std::vector<ParameterSpec> all = model.specs();
    for (const ParameterSpec& p : all) {
        if (!is_lora(p)) continue;
        out.add(gguf_name(p), type, p.shape, [&](const auto& part) {
            const Weights<float>& w = model.weights_of(p);
            const double scale = model.adapter.scale(w) * static_cast<double>(w.lora_a.dim(0));
            const ConstArray<float> values = stored(f, a, p, model.at(p).value());
            if (p.slot != Slot::lora_b || scale == alpha) return part(values);
            Array<float> scaled = values.clone();
            scaled *= static_cast<float>(scale / alpha);
            part(scaled);
        });
    }
    out.write(path);
}

}  // namespace inkling::models
