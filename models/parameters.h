// The one list of a decoder's parameters, made from its Architecture: what there is, of which shape, what optimizers
// take it for, and how it starts; low-rank adapters (models/adapter.h) are in it. Models, files and counts read it.
//   for (const ParameterSpec& p : parameters(architecture)) ...
//   for (const ParameterSpec& p : model.specs()) use(p, model.at(p));   // with the adapters that the model has
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/architecture.h"
#include "nn/init.h"

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

// The last two are the low-rank adapter of the weight: A (r, in), B (out, r).
enum class Slot { weight, bias, lora_a, lora_b };

struct ParameterSpec {
    Part part;
    Slot slot;
    std::size_t layer;  // 0 where there is but one
    Shape shape;        // weights of linear maps are (out, in)
    nn::ParameterKind kind;
    nn::Initial initial;
};
using ParameterFilter = std::function<bool(const ParameterSpec&)>;

inline bool is_lora(const ParameterSpec& p) { return p.slot == Slot::lora_a || p.slot == Slot::lora_b; }
// Whether it may have an adapter: the weight of a linear layer, also of a head that is not the token table.
inline bool may_be_adapted(const ParameterSpec& p) {
    return p.slot == Slot::weight && (p.kind.role == nn::Role::matrix || p.kind.role == nn::Role::head);
}

// Whether the gain that it stands for is 1 + weight.
inline bool adds_one(const Architecture& a, const ParameterSpec& p) {
    return a.norm_gain_plus_one && is_norm(p.part) && p.slot == Slot::weight;
}

// A matrix that linear or embedding takes, packed or not; the table of positions is added.
inline bool may_be_packed(const ParameterSpec& p) {
    return p.shape.size() == 2 && p.part != Part::position_table && !is_lora(p);
}

// In the order in which models visit them, files list them and flat buffers hold them: tables, layers, norm, head.
std::vector<ParameterSpec> parameters(const Architecture& architecture);
// The same with an adapter of this rank behind each weight that may have one and that `adapted` selects.
std::vector<ParameterSpec> parameters(const Architecture& architecture, std::size_t rank,
                                      const ParameterFilter& adapted);
// The adapter of a weight. A starts uniform in +-1/sqrt(in) and B as zeros, so that at first nothing changes.
std::array<ParameterSpec, 2> adapter_parameters(const ParameterSpec& weight, std::size_t rank);
std::vector<ParameterSpec> layer_parameters(const Architecture& architecture, std::size_t layer);

// Numbers in all of them, without making the list; at most 2^64 - 1, whatever a lying config.json says.
std::uint64_t parameter_count(const Architecture& architecture);
// Numbers in the matrices from activations to activations: of role matrix.
std::uint64_t matrix_count(const Architecture& architecture);
// Numbers in the matrices that every token is multiplied with: no tables that are only looked up.
std::uint64_t multiplied_count(const Architecture& architecture);

// What there is of a part, each undefined where there is none.
template <class Array>
struct Weights {
    Array weight, bias, lora_a = {}, lora_b = {};
    Array& operator[](Slot slot) {
        return *std::array{&weight, &bias, &lora_a, &lora_b}[static_cast<std::size_t>(slot)];
    }
    const Array& operator[](Slot slot) const { return const_cast<Weights&>(*this)[slot]; }
};

// What a model keeps of each part: of itself, or of one of its layers.
template <class Value>
struct Parts {
    std::array<Value, kParts> all;
    Value& operator[](Part part) { return all[static_cast<std::size_t>(part)]; }
    const Value& operator[](Part part) const { return all[static_cast<std::size_t>(part)]; }
};

}  // namespace inkling::models
