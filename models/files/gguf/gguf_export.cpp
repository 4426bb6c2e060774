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
           : type == GgufType::BF16 ? 32
                                    : 0;
}

formats::GgufType stored_type(formats::GgufType type, const std::string& name, const Shape& shape) {
    if (shape.size() < 2 || name == "position_embd.weight") return formats::GgufType::F32;
    if (shape.back() % formats::gguf_layout(type)->block != 0) return formats::GgufType::F16;
    const bool words = name == "token_embd.weight" || name == "output.weight";  // 4 bits cost these most
    return type == formats::GgufType::Q4_0 && words ? formats::GgufType::Q8_0 : type;
}

// What llama.cpp computes with in place of a parameter: rows in its order, and what it does not compute itself. Rows of
// an adapter's B are those of its weight.
ConstArray<float> stored(const Family& f, const Architecture& a, const ParameterSpec& p,
                         const ConstArray<float>& values) {
    if (p.slot == Slot::lora_a) return values;
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
    if (std::none_of(all.begin(), all.end(),
                     [&](const ParameterSpec& p) { return stored_type(type, gguf_name(p), p.shape) == type; }))
        type = formats::GgufType::F16;
    formats::GgufWriter out;
    out.set_text("general.architecture", f.gguf_name);
    out.set_text("general.name", name);
    set_gguf_architecture(out, a);
    out.set_u32("general.file_type", file_type(type));
    if (formats::gguf_layout(type)->block > 1) out.set_u32("general.quantization_version", 2);
    set_gguf_tokenizer(out, tokenizer, a);

    const auto add = [&](const std::string& tensor, const Shape& shape, formats::GgufWriter::Make make) {
        out.add(tensor, stored_type(type, tensor, shape), shape, std::move(make));
    };
    for (const ParameterSpec& p : all)  // weights are (out, in) there as here
        add(gguf_name(p), p.shape, [&] { return stored(f, a, p, model.at(p).values()); });
    for (const ParameterSpec& p : f.zero_biases(a))
        add(gguf_name(p), p.shape, [shape = p.shape] { return Array<float>(shape, 0.0f); });
    if (a.tied_head && f.gguf_untied)
        add("output.weight", model.head().weight.shape(), [&] { return model.head().weight.values(); });
    if (a.rope.scaling == RopeScaling::llama3) {
        const std::vector<double> divisors = rotary_divisors(a);
        Array<float> factors({divisors.size()});
        std::copy(divisors.begin(), divisors.end(), factors.data());
        add("rope_freqs.weight", factors.shape(), [factors] { return factors; });
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
        out.add(gguf_name(p), type, p.shape, [&]() -> ConstArray<float> {
            const Weights<float>& w = model.weights_of(p);
            const double scale = model.adapter.scale(w) * static_cast<double>(w.lora_a.dim(0));
            const ConstArray<float> values = stored(f, a, p, model.at(p).value());
            if (p.slot != Slot::lora_b || scale == alpha) return values;
            Array<float> scaled = values.clone();
            scaled *= static_cast<float>(scale / alpha);
            return scaled;
        });
    }
    out.write(path);
}

}  // namespace inkling::models
