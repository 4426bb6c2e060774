#include "models/stored_form.h"

namespace inkling::models {
namespace {

// The biases that transformers expects of a GPT-2 that has none.
std::vector<std::pair<std::string, std::size_t>> missing_biases(const GPTConfig& c) {
    std::vector<std::pair<std::string, std::size_t>> names;
    if (c.bias) return names;
    for (std::size_t i = 0; i < c.n_layer; ++i) {
        const std::string h = "transformer.h." + std::to_string(i) + ".";
        for (const auto& [name, width] :
             std::initializer_list<std::pair<const char*, std::size_t>>{{"ln_1", 1},
                                                                        {"attn.c_attn", 3},
                                                                        {"attn.c_proj", 1},
                                                                        {"ln_2", 1},
                                                                        {"mlp.c_fc", 4},
                                                                        {"mlp.c_proj", 1}}) {
            names.emplace_back(h + name + ".bias", width * c.n_embd);
        }
    }
    names.emplace_back("transformer.ln_f.bias", c.n_embd);
    return names;
}

}  // namespace

bool StoredForm::turned(const std::string& name) const {  // GPT-2's linear layers, Conv1D there
    return arch == Arch::gpt2 &&
           (name.ends_with("c_attn.weight") || name.ends_with("c_proj.weight") || name.ends_with("c_fc.weight"));
}

bool StoredForm::ignored(const std::string& name) const {  // buffers of old GPT-2 files: the causal mask
    return arch == Arch::gpt2 && (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias"));
}

StoredForm stored_form(const GPTConfig& config) {
    if (config.arch == Arch::nanochat) return {config.arch, "", {}, "", ""};
    // openai's own files lack the prefix
    return {config.arch, "transformer.", missing_biases(config), "lm_head.weight", "transformer.wte.weight"};
}

}  // namespace inkling::models
