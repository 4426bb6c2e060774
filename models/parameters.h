// The list of a decoder's parameters by its Architecture: shapes, roles for optimizers, initial values, and low-rank
// adapters (models/adapter.h). Models, files and counts all read this list.
//   for (const ParameterSpec& p : parameters(architecture)) ...
//   for (const ParameterSpec& p : model.specs()) use(p, model.at(p));   // with the model's adapters
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/weights/weight.h"
#include "models/architecture.h"
#include "nn/init.h"

namespace inkling::models {

enum class Part {
    token_table,     // (V, C)
    position_table,  // (T, C)
    token_shift,     // (C), of the tables' rows
    final_norm,
    head,  // (V, C)
    // From here on, of each layer:
    attention_norm,
    attention_shift,   // (C)
    query_key_value,   // one matrix for all three, or:
    query,             // (H d, C)
    key,               // (K d, C), for K heads of keys and values
    value,             // (K d, C)
    query_norm,        // (d)
    key_norm,          // (d)
    attention_output,  // (C, H d)
    attention_output_norm,
    mlp_norm,
    mlp_shift,  // (C)
    gate,       // (F, C)
    up,         // (F, C)
    down,       // (C, F)
    mlp_output_norm,
    count
};
inline constexpr std::size_t kParts = static_cast<std::size_t>(Part::count);
constexpr bool in_layer(Part part) { return part >= Part::attention_norm; }
constexpr bool is_norm(Part part) {
    return part == Part::final_norm || part == Part::attention_norm || part == Part::mlp_norm ||
           part == Part::query_norm || part == Part::key_norm || part == Part::attention_output_norm ||
           part == Part::mlp_output_norm;
}

// The last two are the weight's low-rank adapter: A (r, in), B (out, r).
enum class Slot { weight, bias, lora_a, lora_b };

struct ParameterSpec {
    Part part;
    Slot slot;
    std::size_t layer;  // 0 outside of layers
    Shape shape;        // weights of linear maps are (out, in)
    nn::ParameterKind kind;
    nn::Initial initial;
};
using ParameterFilter = std::function<bool(const ParameterSpec&)>;

inline bool is_lora(const ParameterSpec& p) { return p.slot == Slot::lora_a || p.slot == Slot::lora_b; }
// Whether it may have an adapter: the weight of a linear layer or of an untied head.
inline bool may_be_adapted(const ParameterSpec& p) {
    return p.slot == Slot::weight && (p.kind.role == nn::Role::matrix || p.kind.role == nn::Role::head);
}

// Whether its gain is 1 + weight.
inline bool adds_one(const Architecture& a, const ParameterSpec& p) {
    return a.norm_gain_plus_one && is_norm(p.part) && p.slot == Slot::weight;
}

// A matrix for linear or embedding, which may be packed; the table of positions is added instead.
inline bool may_be_packed(const ParameterSpec& p) {
    return p.shape.size() == 2 && p.part != Part::position_table && !is_lora(p);
}

// The order of models, files and flat buffers: tables, layers, norm, head.
std::vector<ParameterSpec> parameters(const Architecture& architecture);
// The same with an adapter of this rank behind each weight that `adapted` selects and that may have one.
std::vector<ParameterSpec> parameters(const Architecture& architecture, std::size_t rank,
                                      const ParameterFilter& adapted);
// A weight's adapter. A starts uniform in +-1/sqrt(in) and B as zeros, so it starts without effect.
std::array<ParameterSpec, 2> adapter_parameters(const ParameterSpec& weight, std::size_t rank);
std::vector<ParameterSpec> layer_parameters(const Architecture& architecture, std::size_t layer);

// The number of all elements, without making the list; at most 2^64 - 1 for any config.json.
std::uint64_t parameter_count(const Architecture& architecture);
// Elements of the matrices between activations (role matrix).
std::uint64_t matrix_count(const Architecture& architecture);
// Elements of the matrices that multiply every token, without tables that are only looked up.
std::uint64_t multiplied_count(const Architecture& architecture);

// The weights of a part; missing ones are undefined. Only a matrix may be packed.
template <class T>
struct Weights {
    Weight<T> weight, bias, lora_a = {}, lora_b = {};
    std::optional<double> lora_alpha = {};  // of this adapter; otherwise the model's
    Weight<T>& operator[](Slot slot) {
        return *std::array{&weight, &bias, &lora_a, &lora_b}[static_cast<std::size_t>(slot)];
    }
    const Weight<T>& operator[](Slot slot) const { return const_cast<Weights&>(*this)[slot]; }
};

// Values for each part of a model or of one of its layers.
template <class Value>
struct Parts {
    std::array<Value, kParts> all;
    Value& operator[](Part part) { return all[static_cast<std::size_t>(part)]; }
    const Value& operator[](Part part) const { return all[static_cast<std::size_t>(part)]; }
};

}  // namespace inkling::models
