// The shape of a GPT-2 model, and its config.json as Hugging Face writes it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace inkling::models {

struct GPTConfig {
    std::size_t vocab_size = 65;
    std::size_t n_layer = 4;
    std::size_t n_head = 4;
    std::size_t n_embd = 128;
    std::size_t block_size = 64;  // the context: the most tokens that a position exists for
    double dropout = 0.0;
    bool bias = true;  // of linear layers and norms
    double layer_norm_epsilon = 1e-5;

    // Throws, naming the flag that is to change, when a size is 0, or the width not divisible by the heads.
    void validate() const;
    std::size_t parameter_count() const;

    // The whole config.json of GPT2LMHeadModel. end_of_text < 0: the tokenizer has no such token.
    nlohmann::json to_json(std::int64_t end_of_text = -1) const;
    // Throws BadInput for a model of another kind and for missing or senseless values.
    static GPTConfig from_json(const nlohmann::json& json, const std::string& what);
};

}  // namespace inkling::models
