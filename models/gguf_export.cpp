#include "models/gguf_export.h"

#include <fmt/ranges.h>

#include <list>
#include <map>

#include "engine/check.h"
#include "models/families/family.h"
#include "models/gguf_tokenizer.h"

namespace inkling::models {
namespace {

// llama.cpp has one name for a part, whatever the family: blk.0.attn_qkv.weight.
std::string gguf_name(const Parameter& p) {
    static const std::map<Part, std::string> names = {
        {Part::token_table, "token_embd"},
        {Part::position_table, "position_embd"},
        {Part::final_norm, "output_norm"},
        {Part::head, "output"},
        {Part::attention_norm, "attn_norm"},
        {Part::query_key_value, "attn_qkv"},
        {Part::query, "attn_q"},
        {Part::key, "attn_k"},
        {Part::value, "attn_v"},
        {Part::query_norm, "attn_q_norm"},
        {Part::key_norm, "attn_k_norm"},
        {Part::attention_output, "attn_output"},
        {Part::mlp_norm, "ffn_norm"},
        {Part::gate, "ffn_gate"},
        {Part::up, "ffn_up"},
        {Part::down, "ffn_down"},
    };
    const std::string place = in_layer(p.part) ? "blk." + std::to_string(p.layer) + "." : "";
    return place + names.at(p.part) + (p.bias ? ".bias" : ".weight");
}

// Rows of each head's query or key from (i, i + d/2), which are rotated as a pair, to (2i, 2i + 1).
Array<float> interleaved(const ConstArray<float>& x, std::size_t head_size) {
    const std::size_t heads = x.dim(0) / head_size, columns = x.size() / x.dim(0);
    return x.reshaped({heads, 2, head_size / 2, columns}).transposed(1, 2).clone().reshaped(x.shape());
}

std::uint32_t file_type(formats::GgufType type) {  // llama.cpp's llama_ftype
    switch (type) {
        case formats::GgufType::F16:
            return 1;
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
    return type == formats::GgufType::Q8_0 && shape.back() % formats::kQ8Block != 0 ? formats::GgufType::F16 : type;
}

std::vector<std::string> gguf_families() {
    std::vector<std::string> names = family_names();
    std::erase_if(names, [](const std::string& name) { return !family(name).set_gguf_keys; });
    return names;
}

}  // namespace

void write_gguf(const std::filesystem::path& path, Transformer<float>& model, const data::Tokenizer& tokenizer,
                formats::GgufType type, const std::string& name) {
    const Architecture& a = model.config;
    const Family& f = family(a.family);
    check<BadInput>(f.set_gguf_keys,
                    "gguf: llama.cpp has no {}: train with --arch {}, or export a folder with --format hf", a.family,
                    fmt::join(gguf_families(), " or "));
    formats::GgufWriter out;
    out.set_text("general.architecture", a.family);
    out.set_text("general.name", name);
    f.set_gguf_keys(out, a);
    out.set_u32("general.file_type", file_type(type));
    if (type == formats::GgufType::Q8_0) out.set_u32("general.quantization_version", 2);
    set_gguf_tokenizer(out, tokenizer, a.vocab_size);

    std::list<ConstArray<float>> made;          // kept until write()
    for (const Parameter& p : parameters(a)) {  // weights are (out, in) there as here
        ConstArray<float> values = unpacked(model.at(p));
        if (model.at(p).packed()) made.push_back(values);
        const bool rotated = p.part == Part::query || p.part == Part::key;
        if (f.gguf_interleaved && rotated) values = made.emplace_back(interleaved(values, a.head_size()));
        out.add(gguf_name(p), stored_type(type, gguf_name(p), p.shape), p.shape, values.data());
    }
    for (const Parameter& p : f.zero_biases(a))
        out.add(gguf_name(p), formats::GgufType::F32, p.shape, made.emplace_back(Array<float>(p.shape, 0.0f)).data());
    out.write(path);
}

}  // namespace inkling::models
