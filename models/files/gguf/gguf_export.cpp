#include "models/files/gguf/gguf_export.h"

#include <algorithm>
#include <list>

#include "engine/base/check.h"
#include "models/families/as_qwen3.h"
#include "models/families/gguf_metadata.h"
#include "models/files/gguf/gguf_tokenizer.h"
#include "models/rotary_positions.h"

namespace inkling::models {
namespace {

// Rows of each head's query or key from (i, i + d/2), which are rotated as a pair, to (2i, 2i + 1).
Array<float> interleaved(const ConstArray<float>& x, std::size_t head_size) {
    const std::size_t heads = x.dim(0) / head_size, columns = x.size() / x.dim(0);
    return x.reshaped({heads, 2, head_size / 2, columns}).transposed(1, 2).clone().reshaped(x.shape());
}

std::uint32_t file_type(formats::GgufType type) {  // llama.cpp's llama_ftype
    switch (type) {
        case formats::GgufType::F16:
            return 1;
        case formats::GgufType::Q4_0:
            return 2;
        case formats::GgufType::Q8_0:
            return 7;
        case formats::GgufType::BF16:
            return 32;
        default:
            return 0;
    }
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
    if (f.gguf_interleaved && (p.name == ParameterName::query || p.name == ParameterName::key))
        return interleaved(values, a.head_size());
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

    std::list<ConstArray<float>> made;    // kept until write()
    for (const ParameterSpec& p : all) {  // weights are (out, in) there as here
        const ConstArray<float>& values = made.emplace_back(stored(f, a, p, model.at(p).values()));
        out.add(gguf_name(p), stored_type(type, gguf_name(p), p.shape), p.shape, values.data());
    }
    for (const ParameterSpec& p : f.zero_biases(a))
        out.add(gguf_name(p), formats::GgufType::F32, p.shape, made.emplace_back(Array<float>(p.shape, 0.0f)).data());
    if (a.tied_head && f.gguf_untied) {
        const ConstArray<float>& head = made.emplace_back(model.head().weight.values());
        out.add("output.weight", stored_type(type, "output.weight", head.shape()), head.shape(), head.data());
    }
    if (a.rope.scaling == RopeScaling::llama3) {
        const std::vector<double> divisors = rotary_divisors(a);
        Array<float> factors({divisors.size()});
        std::copy(divisors.begin(), divisors.end(), factors.data());
        out.add("rope_freqs.weight", formats::GgufType::F32, factors.shape(), made.emplace_back(factors).data());
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
    std::list<ConstArray<float>> made;  // kept until write()
    for (const ParameterSpec& p : model.specs()) {
        if (!is_lora(p)) continue;
        Array<float> values = stored(f, a, p, model.at(p).value()).clone();
        const double scale =
            model.adapter.scale(model.weights_of(p)) * static_cast<double>(model.weights_of(p).lora_a.dim(0));
        if (p.slot == Slot::lora_b && scale != alpha) values *= static_cast<float>(scale / alpha);
        out.add(gguf_name(p), type, p.shape, made.emplace_back(values).data());
    }
    out.write(path);
}

}  // namespace inkling::models
