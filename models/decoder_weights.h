// The weights of a model in the order in which writing text needs them, the same for both families: a model's layers
// differ in their norms, positions and activation alone.
#pragma once

#include <vector>

#include "models/language_model.h"
#include "models/packed_matrix.h"

namespace inkling::models {

struct Projection {
    PackedMatrix weight;
    Array<float> bias;  // undefined: none

    // Rows [begin, end) of W x + bias, as PackedMatrix::multiply.
    void apply(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
               std::size_t y_stride) const;
};

struct Norm {
    Array<float> gain, bias;  // undefined: none
};

struct DecoderLayer {
    Norm before_attention, before_mlp;
    std::vector<Projection> qkv;  // one that makes query, key and value, or one for each
    Projection out, up, down;
};

struct DecoderWeights {
    // Float32 weights are the model's own memory; others are copies, after which the model may go.
    DecoderWeights(const LanguageModel<float>& model, WeightType type);

    // x (n, C) -> y (n, C), row by row: gpt2's layer norm, nanochat's rms norm.
    void normalize(const Norm& norm, const float* x, std::size_t n, float* y) const;
    void activate(float* x, std::size_t n) const;  // gpt2's gelu, nanochat's squared relu
    void cap(float* logits, std::size_t n) const;  // softcap
    std::size_t bytes() const;                     // of the matrices that every token reads

    GPTConfig config;
    WeightType type;
    std::size_t kv_width;            // of all keys of a token, and of all values
    Array<float> tokens, positions;  // tables (V, C) and (T, C); nanochat has no positions
    std::vector<float> angles;       // nanochat: cos and sin of each position's angles, (T, 2, d / 2)
    std::vector<DecoderLayer> layers;
    Norm last;
    Projection head;  // (V, C)
};

}  // namespace inkling::models
