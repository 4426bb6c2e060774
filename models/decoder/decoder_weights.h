// The weights of a model in the order in which writing text needs them, and the steps of which each layer is made.
#pragma once

#include <vector>

#include "engine/autograd/packed_matrix.h"
#include "models/transformer.h"

namespace inkling::models {

struct Projection {
    PackedMatrix weight;
    ConstArray<float> bias = {};            // undefined: none
    PackedMatrix lora_a = {}, lora_b = {};  // of the adapter, scaled: (r, in), (out, r); without rows: none

    // Rows [begin, end) of W x + bias + B A x, as PackedMatrix::multiply.
    void apply(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
               std::size_t y_stride) const;
    // x (n, in) -> (n, out), as PackedMatrix::product.
    Array<float> product(const ConstArray<float>& x, Precision precision) const;
};

struct Norm {
    ConstArray<float> gain, bias;  // undefined: none
};

struct DecoderLayer {
    Norm before_attention, before_mlp;
    std::vector<Projection> qkv;             // one that makes query, key and value, or one for each
    Projection out, gate, up, down;          // gate: empty where the feed-forward part has none
    ConstArray<float> query_gain, key_gain;  // of the norms of heads; undefined: none
};

struct DecoderWeights {
    // Weights that the model has as `type` are its own memory, and for fp32 also those that it has in bfloat16; others
    // are copies, after which the model may go. Float32 products are the same to the last bit whichever it has.
    DecoderWeights(const Transformer<float>& model, WeightType type);
    // The adapter of a model takes the place of the one there is; the weights stay.
    void take_adapter(const Transformer<float>& model);

    // x (n, C) -> y (n, C), row by row.
    void normalize(const Norm& norm, const float* x, std::size_t n, float* y) const;
    void activate(float* x, std::size_t n) const;
    // A head's query or key (d) at a position: rotated and normed, as far as the architecture does either.
    void rotate(float* x, std::size_t position, const ConstArray<float>& gain) const;
    void cap(float* logits, std::size_t n) const;  // softcap
    std::size_t bytes() const;                     // of the matrices that every token reads
    Precision precision() const { return type == WeightType::bf16 ? Precision::bf16 : Precision::fp32; }

    Architecture config;
    WeightType type;
    PackedMatrix tokens;          // (V, C), as the model has it
    ConstArray<float> positions;  // (T, C); undefined: no learned positions
    ConstArray<float> angles;     // (T, 2, r / 2), cos and sin of each position's; undefined: they are not rotary
    std::vector<DecoderLayer> layers;
    Norm last;
    Projection head;  // (V, C)
};

}  // namespace inkling::models
