// What a decoder is, as plain data: its sizes, and which of the field's choices it takes. The model that trains and the
// one that writes text read this and nothing else; what a family's files call it stands in models/families.
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
    learned,  // a vector for each position, added to the tokens'
    rotary,   // queries and keys are rotated by their position's angles
};
enum class HeadNorm { none, before_rotary, after_rotary };  // an rms norm of each head's queries and keys
enum class Activation { gelu_tanh, gelu_erf, relu, squared_relu, silu };
enum class RopeScaling { none, linear, llama3 };

// How the angles of rotary positions are made smaller, for contexts longer than those of the first training.
struct RopeOptions {
    RopeScaling scaling = RopeScaling::none;
    double factor = 1;         // linear: angles are divided by it; llama3: those of wavelengths above original / low
    double low = 1, high = 4;  // llama3: wavelengths below original / high keep theirs; between, linearly blended
    std::size_t original = 0;  // llama3: the context of the first training
    bool operator==(const RopeOptions&) const = default;
};

struct Architecture {
    std::string family = "gpt2";  // whose files it is kept in: a name of families/

    bool has_bos = true;  // training showed texts that begin after an end of text, where the tokenizer has one
    // As a model's files say; none: the tokenizer's end of text, for both.
    std::vector<std::int32_t> end_tokens = {};  // each ends a text
    std::int32_t begin_token = -1;              // texts begin behind it; -1: none

    std::size_t vocab_size = 65;
    std::size_t n_layer = 4;
    std::size_t n_head = 4;
    std::size_t n_kv_head = 0;  // heads of keys and values, each shared by as many query heads; 0: n_head
    std::size_t head_dim = 0;   // width of a head; 0: n_embd / n_head
    std::size_t n_embd = 128;
    std::size_t n_inner = 0;      // width of the feed-forward part; 0: 4 n_embd
    std::size_t block_size = 64;  // the context: the most tokens that a position exists for

    double dropout = 0;          // of attention weights, in training
    bool stream_dropout = true;  // also of the embeddings and of what each part adds to the stream

    NormKind norm = NormKind::layer;
    bool norm_gain = true, norm_bias = true;
    double norm_epsilon = 1e-5;
    bool norm_gain_plus_one = false;  // gains are 1 + weight, those of heads too
    bool part_norms = false;          // what attention and feed-forward part add to the stream is normed before
    bool embedding_norm = false;      // the token table's rows are normed, too
    bool scaled_embedding = false;    // the token table's rows are multiplied by sqrt(n_embd)

    Positions positions = Positions::learned;
    double rope_theta = 10000;    // base of the rotary angles: position p rotates pair i by p theta^(-2i/d)
    bool rope_clockwise = false;  // by the negative of these angles
    double rotary_part = 1;       // of each head's numbers, its first
    RopeOptions rope = {};
    double local_rope_theta = 0;  // of local layers, whose angles are not scaled; 0: as the others
    HeadNorm head_norm = HeadNorm::none;
    bool head_norm_gain = false;

    bool packed_qkv = true;  // one matrix makes query, key and value
    bool qkv_bias = true, attention_bias = true, mlp_bias = true;
    Activation activation = Activation::gelu_tanh;
    bool parallel_residual = false;  // attention and feed-forward part both read what enters the layer
    bool scale_by_layer = false;     // scores of attention are divided by the layer's number, from 1
    std::size_t score_width = 0;     // they are divided by its square root; 0: the width of a head
    // Layers are local, but for every global_every-th (0: none is); a token sees the last `window` tokens there, itself
    // included (0: all).
    std::size_t window = 0, global_every = 0;
    bool gated = false;     // the feed-forward part is down(activation(gate x) * up x), not down(activation(up x))
    bool tied_head = true;  // the head is the token table
    double softcap = 0;     // logits z become softcap tanh(z / softcap); 0: they stay

    std::size_t kv_heads() const { return n_kv_head ? n_kv_head : n_head; }
    std::size_t head_size() const { return head_dim ? head_dim : n_embd / n_head; }
    // Numbers of a head that are rotated: as in transformers a pair, where 1 is asked for.
    std::size_t rotary_size() const {
        const auto n = static_cast<std::size_t>(static_cast<double>(head_size()) * rotary_part);
        return n == 1 && head_size() > 1 ? 2 : n;
    }
    bool is_local(std::size_t layer) const { return global_every == 0 || (layer + 1) % global_every != 0; }
    std::size_t score_size() const { return score_width ? score_width : head_size(); }
    std::size_t window_of(std::size_t layer) const { return is_local(layer) ? window : 0; }
    double attention_scale(std::size_t layer) const {  // of a query's products with keys
        return 1 / std::sqrt(static_cast<double>(score_size())) / static_cast<double>(scale_by_layer ? layer + 1 : 1);
    }
    std::size_t query_width() const { return n_head * head_size(); }
    std::size_t kv_width() const { return kv_heads() * head_size(); }
    std::size_t inner() const { return n_inner ? n_inner : 4 * n_embd; }
    void set_inner(std::size_t width) { n_inner = width == 4 * n_embd ? 0 : width; }

    // Throws Error, naming the flag that is to change, for sizes that cannot be or do not fit each other.
    void validate() const;

    bool operator==(const Architecture&) const = default;
};

}  // namespace inkling::models
