// The shape of a language model, and its config.json as Hugging Face writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace inkling::models {

enum class Arch {
    gpt2,      // GPT2LMHeadModel
    nanochat,  // NanoChatForCausalLM
};
std::string arch_name(Arch arch);
// Throws Error, with the names there are.
Arch arch_from_name(const std::string& name);
std::vector<std::string> arch_names();

struct GPTConfig {
    std::size_t vocab_size = 65;
    std::size_t n_layer = 4;
    std::size_t n_head = 4;
    std::size_t n_embd = 128;
    std::size_t block_size = 64;  // the context: the most tokens that a position exists for
    double dropout = 0.0;         // of gpt2's stream and attention weights, of nanochat's attention weights alone
    bool bias = true;             // of gpt2's linear layers and norms, of nanochat's attention alone
    double layer_norm_epsilon = 1e-5;
    Arch arch = Arch::gpt2;

    // Of nanochat alone.
    std::size_t n_kv_head = 0;  // heads of keys and values, each shared by as many query heads; 0: n_head
    std::size_t n_inner = 0;    // width of the feed-forward part; 0: 4 n_embd
    double rope_theta = 10000;  // base of the rotary positions
    double softcap = 15;        // logits stay within +-softcap; 0: as they are

    std::size_t kv_heads() const { return n_kv_head ? n_kv_head : n_head; }
    std::size_t inner() const { return n_inner ? n_inner : 4 * n_embd; }
    std::size_t head_size() const { return n_embd / n_head; }

    // Throws, naming the flag that is to change, when a size is 0, or the width not divisible by the heads.
    void validate() const;
    std::size_t parameter_count() const;

    // The whole config.json. end_of_text < 0: the tokenizer has no such token.
    nlohmann::json to_json(std::int64_t end_of_text = -1) const;
    // Throws BadInput for a model of another kind and for missing or senseless values.
    static GPTConfig from_json(const nlohmann::json& json, const std::string& what);

    bool operator==(const GPTConfig&) const = default;
};

}  // namespace inkling::models
