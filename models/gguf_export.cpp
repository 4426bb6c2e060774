#include "models/gguf_export.h"

#include <list>
#include <map>

#include "engine/check.h"
#include "models/gguf_tokenizer.h"
#include "models/stored_form.h"

namespace inkling::models {
namespace {

// transformer.h.0.attn.c_attn.weight -> blk.0.attn_qkv.weight
std::string gguf_name(const std::string& name) {
    static const std::map<std::string, std::string> parts = {
        {"wte", "token_embd"}, {"wpe", "position_embd"},    {"ln_f", "output_norm"},
        {"ln_1", "attn_norm"}, {"attn.c_attn", "attn_qkv"}, {"attn.c_proj", "attn_output"},
        {"ln_2", "ffn_norm"},  {"mlp.c_fc", "ffn_up"},      {"mlp.c_proj", "ffn_down"},
    };
    std::string rest = name.substr(std::string("transformer.").size()), block;
    if (rest.starts_with("h.")) {
        const std::size_t end = rest.find('.', 2) + 1;
        block = "blk" + rest.substr(1, end - 1);
        rest = rest.substr(end);
    }
    const std::size_t dot = rest.rfind('.');
    return block + parts.at(rest.substr(0, dot)) + rest.substr(dot);
}

std::uint32_t file_type(GgufType type) {  // llama.cpp's llama_ftype
    switch (type) {
        case GgufType::F16:
            return 1;
        case GgufType::Q8_0:
            return 7;
        case GgufType::BF16:
            return 32;
        default:
            return 0;
    }
}

GgufType stored_type(GgufType type, const std::string& name, const Shape& shape) {
    if (shape.size() < 2 || name == "position_embd.weight") return GgufType::F32;
    return type == GgufType::Q8_0 && shape.back() % kQ8Block != 0 ? GgufType::F16 : type;
}

}  // namespace

void write_gguf(const std::filesystem::path& path, LanguageModel<float>& model, const data::Tokenizer& tokenizer,
                GgufType type, const std::string& name) {
    const GPTConfig& c = model.config;
    check<BadInput>(c.arch == Arch::gpt2,
                    "gguf: llama.cpp has no {}: train with --arch gpt2, or export a folder with --format hf",
                    arch_name(c.arch));
    GgufWriter out;
    out.set_text("general.architecture", "gpt2");
    out.set_text("general.name", name);
    const auto size = [&](const char* key, std::size_t n) { out.set_u32(key, static_cast<std::uint32_t>(n)); };
    size("gpt2.block_count", c.n_layer);
    size("gpt2.context_length", c.block_size);
    size("gpt2.embedding_length", c.n_embd);
    size("gpt2.feed_forward_length", 4 * c.n_embd);
    size("gpt2.attention.head_count", c.n_head);
    out.set_f32("gpt2.attention.layer_norm_epsilon", static_cast<float>(c.layer_norm_epsilon));
    out.set_u32("general.file_type", file_type(type));
    if (type == GgufType::Q8_0) out.set_u32("general.quantization_version", 2);
    set_gguf_tokenizer(out, tokenizer, c.vocab_size);

    std::list<std::vector<float>> zeros;               // kept until write()
    for (auto& [parameter, p] : model.parameters()) {  // weights are (out, in) there as here
        const std::string stored = gguf_name(parameter);
        out.add(stored, stored_type(type, stored, p.shape()), p.shape(), p.value().data());
    }
    for (const auto& [bias, width] : stored_form(c).zeros)
        out.add(gguf_name(bias), GgufType::F32, {width}, zeros.emplace_back(width).data());
    out.write(path);
}

}  // namespace inkling::models
