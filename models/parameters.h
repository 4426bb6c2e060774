// The one list of a decoder's parameters, made from its Architecture: what there is, of which shape, what optimizers
// take it for, and how it starts. Models are built from it; files, counts and initial values follow it.
//   for (const ParameterSpec& p : parameters(architecture)) ...
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/architecture.h"
#include "nn/module.h"

namespace inkling::models {

enum class Part {
    token_table,     // (V, C)
    position_table,  // (T, C)
    final_norm,
    head,  // (V, C)
    // of each layer:
    attention_norm,
    query_key_value,   // one matrix for all three, or:
    query,             // (H d, C)
    key,               // (K d, C), for K heads of keys and values
    value,             // (K d, C)
    query_norm,        // (d)
    key_norm,          // (d)
    attention_output,  // (C, H d)
    attention_output_norm,
    mlp_norm,
    gate,  // (F, C)
    up,    // (F, C)
    down,  // (C, F)
    mlp_output_norm,
};
inline constexpr std::size_t kParts = static_cast<std::size_t>(Part::mlp_output_norm) + 1;
constexpr bool in_layer(Part part) { return part >= Part::attention_norm; }
constexpr bool is_norm(Part part) {
    return part == Part::final_norm || part == Part::attention_norm || part == Part::mlp_norm ||
           part == Part::query_norm || part == Part::key_norm || part == Part::attention_output_norm ||
           part == Part::mlp_output_norm;
}

struct ParameterSpec {
    Part part;
    bool bias;          // its bias, not its weight
    std::size_t layer;  // 0 where there is but one
    Shape shape;        // weights of linear maps are (out, in)
    nn::ParameterKind kind;
    double deviation;  // initial values are N(0, deviation^2); 0: a norm's gain is ones, a bias zeros
};

// A matrix that linear or embedding takes, packed or not; the table of positions is added.
inline bool may_be_packed(const ParameterSpec& p) { return p.shape.size() == 2 && p.part != Part::position_table; }

// In the order in which models visit them, files list them and flat buffers hold them: tables, layers, norm, head.
std::vector<ParameterSpec> parameters(const Architecture& architecture);
std::vector<ParameterSpec> layer_parameters(const Architecture& architecture, std::size_t layer);

// Numbers in all of them, without making the list; at most 2^64 - 1, whatever a lying config.json says.
std::uint64_t parameter_count(const Architecture& architecture);
// Numbers in the matrices from activations to activations: of role matrix.
std::uint64_t matrix_count(const Architecture& architecture);
// Numbers in the matrices that every token is multiplied with: no tables that are only looked up.
std::uint64_t multiplied_count(const Architecture& architecture);

// A weight and a bias, each undefined where the architecture has none, and the weight's low-rank adapter, undefined
// where it has none (models/adapter.h): A (r, in), B (out, r).
template <class Array>
struct Weights {
    Array weight, bias, lora_a = {}, lora_b = {};
};

// What a model keeps of each part: of itself, or of one of its layers.
template <class Value>
struct Parts {
    std::array<Value, kParts> all;
    Value& operator[](Part part) { return all[static_cast<std::size_t>(part)]; }
    const Value& operator[](Part part) const { return all[static_cast<std::size_t>(part)]; }
};

}  // namespace inkling::models
