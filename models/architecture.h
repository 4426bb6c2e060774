// A decoder as plain data: its sizes, and its choices among the field's variants. The training and the inference model
// read nothing else; models/families has the names that each family's files use.
//   Architecture gpt2;                                      // by itself, a small one
//   Architecture llama = family("llama").defaults(false);
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace inkling::models {

enum class NormKind { layer, rms };
enum class Positions {
    learned,  // a vector per position, added to the token's
    rotary,   // rotates queries and keys by their position's angles
};
enum class HeadNorm { none, before_rotary, after_rotary };  // RMS norm of each head's queries and keys
enum class Activation { gelu_tanh, gelu_erf, relu, squared_relu, silu };
enum class RopeScaling { none, linear, llama3 };

// Scales rotary angles down, for contexts longer than in pretraining.
struct RopeOptions {
    RopeScaling scaling = RopeScaling::none;
    double factor = 1;         // linear: divides all angles; llama3: those of wavelengths above original / low
    double low = 1, high = 4;  // llama3: keeps wavelengths below original / high; blends linearly between
    std::size_t original = 0;  // llama3: the context in pretraining
    bool operator==(const RopeOptions&) const = default;
};

struct Architecture {
    std::string family = "gpt2";  // a name of families/, for its files

    bool has_bos = true;  // trained on texts that begin after an end of text, if the tokenizer has one
    // From the model's files; without them, both are the tokenizer's end of text.
    std::vector<std::int32_t> end_tokens = {};  // each ends a text
    std::int32_t begin_token = -1;              // comes before each text; -1: none

    std::size_t vocab_size = 65;
    std::size_t n_layer = 4;
    std::size_t n_head = 4;
    std::size_t n_kv_head = 0;  // key/value heads, each shared by n_head / n_kv_head query heads; 0: n_head
    std::size_t head_dim = 0;   // width of a head; 0: n_embd / n_head
    std::size_t n_embd = 128;
    std::size_t n_inner = 0;      // width of the feed-forward part; 0: 4 n_embd
    std::size_t block_size = 64;  // the context in tokens

    double dropout = 0;            // of attention weights, in training
    bool residual_dropout = true;  // also of the embeddings and of each part's output

    NormKind norm = NormKind::layer;
    bool norm_gain = true, norm_bias = true;
    double norm_epsilon = 1e-5;
    bool norm_gain_plus_one = false;  // gain = 1 + weight, for qk norms as well
    bool post_norms = false;          // norms the outputs of attention and feed-forward part
    bool embedding_norm = false;      // norms the token table's rows
    bool scaled_embedding = false;    // multiplies the token table's rows by sqrt(n_embd)
    bool token_shift = false;  // tokens' vectors, and what goes into each part, get a share of the token before's

    Positions positions = Positions::learned;
    double rope_theta = 10000;    // base of the rotary angles: position p rotates pair i by p theta^(-2i/d)
    bool rope_clockwise = false;  // by the negative of these angles
    double rotary_part = 1;       // the first part of each head's dimensions is rotated
    RopeOptions rope = {};
    double local_rope_theta = 0;  // of local layers, without scaling; 0: as in the others
    HeadNorm head_norm = HeadNorm::none;
    bool head_norm_gain = false;

    bool packed_qkv = true;  // one matrix makes query, key and value
    bool qkv_bias = true, attention_bias = true, mlp_bias = true;
    Activation activation = Activation::gelu_tanh;
    bool parallel_residual = false;  // attention and feed-forward part both read the layer's input
    bool scale_by_layer = false;     // divides attention scores by the layer's number, from 1
    std::size_t score_width = 0;     // divides them by its square root; 0: the width of a head
    // In a local layer a token sees the last `window` tokens, itself included (0: all). Every global_every-th layer is
    // global, where a token sees all before it (0: no layer is global).
    std::size_t window = 0, global_every = 0;
    bool gated = false;     // the feed-forward part is down(activation(gate x) * up x), not down(activation(up x))
    bool tied_head = true;  // the head is the token table
    double softcap = 0;     // logits z become softcap tanh(z / softcap); 0: they stay

    std::size_t kv_heads() const { return n_kv_head ? n_kv_head : n_head; }
    std::size_t head_size() const { return head_dim ? head_dim : n_embd / n_head; }
    // Rotated dimensions of a head; as in transformers, 2 where 1 is asked for.
    std::size_t rotary_size() const {
        const auto n = static_cast<std::size_t>(static_cast<double>(head_size()) * rotary_part);
        return n == 1 && head_size() > 1 ? 2 : n;
    }
    bool is_local(std::size_t layer) const { return global_every == 0 || (layer + 1) % global_every != 0; }
    std::size_t score_size() const { return score_width ? score_width : head_size(); }
    std::size_t window_of(std::size_t layer) const { return is_local(layer) ? window : 0; }
    double attention_scale(std::size_t layer) const {  // multiplies a query's products with keys
        return 1 / std::sqrt(static_cast<double>(score_size())) / static_cast<double>(scale_by_layer ? layer + 1 : 1);
    }
    std::size_t query_width() const { return n_head * head_size(); }
    std::size_t kv_width() const { return kv_heads() * head_size(); }
    std::size_t inner() const { return n_inner ? n_inner : 4 * n_embd; }
    // 0 where the others give the same.
    void set_kv_heads(std::size_t n) { n_kv_head = n == n_head ? 0 : n; }
    void set_head_size(std::size_t width) { head_dim = width * n_head == n_embd ? 0 : width; }
    void set_inner(std::size_t width) { n_inner = width == 4 * n_embd ? 0 : width; }

    // Throws Error, naming the flag to change, for sizes that are impossible or do not fit each other.
    void validate() const;

    bool operator==(const Architecture&) const = default;
};

}  // namespace inkling::models
