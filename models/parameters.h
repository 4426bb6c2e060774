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

enum class ParameterName {
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
inline constexpr std::size_t kParameterNames = static_cast<std::size_t>(ParameterName::count);
constexpr bool in_layer(ParameterName name) { return name >= ParameterName::attention_norm; }
constexpr bool is_norm(ParameterName name) {
    using enum ParameterName;
    return name == final_norm || name == attention_norm || name == mlp_norm || name == query_norm || name == key_norm ||
           name == attention_output_norm || name == mlp_output_norm;
}

// The last two are the weight's low-rank adapter: A (r, in), B (out, r).
enum class Slot { weight, bias, lora_a, lora_b };

struct ParameterSpec {
    ParameterName name;
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
    return a.norm_gain_plus_one && is_norm(p.name) && p.slot == Slot::weight;
}

// A matrix for linear or embedding, which may be packed; the table of positions is added instead.
inline bool may_be_packed(const ParameterSpec& p) {
    return p.shape.size() == 2 && p.name != ParameterName::position_table && !is_lora(p);
}

// The order of models, files and flat buffers: tables, layers, norm, head.
std::vector<ParameterSpec> parameters(const Architecture& architecture);
// The same with an adapter of this rank behind each weight that `adapted` selects and that may have one.
std::vector<ParameterSpec> parameters(const Architecture& architecture, std::size_t rank,
                                      const ParameterFilter& adapted);
// A weight's adapter. A starts uniform in +-1/sqrt(in) and B as zeros, so it starts without effect.
std::array<ParameterSpec, 2> adapter_parameters(const ParameterSpec& weight, std::size_t rank);
std::vector<ParameterSpec> layer_parameters(const Architecture& architecture, std::size_t layer);

// The number of elements of all parameters, or of those that `which` selects by those of layer 0, without making the
// list; at most 2^64 - 1 for any config.json.
std::uint64_t parameter_count(const Architecture& architecture, const ParameterFilter& which = nullptr);
// Elements of the matrices between activations (role matrix).
std::uint64_t matrix_count(const Architecture& architecture);
// Elements of the matrices that multiply every token, without tables that are only looked up.
std::uint64_t multiplied_count(const Architecture& architecture);

// Missing ones are undefined. Only a matrix may be packed.
template <class T>
struct Weights {
    Weight<T> weight, bias, lora_a = {}, lora_b = {};
    std::optional<double> lora_alpha = {};  // of this adapter; otherwise the model's
    Weight<T>& operator[](Slot slot) {
        return *std::array{&weight, &bias, &lora_a, &lora_b}[static_cast<std::size_t>(slot)];
    }
    const Weight<T>& operator[](Slot slot) const { return const_cast<Weights&>(*this)[slot]; }
};

// The weights of one layer, or those outside of layers.
template <class T>
struct NamedWeights {
    std::array<Weights<T>, kParameterNames> all;
    Weights<T>& operator[](ParameterName name) { return all[static_cast<std::size_t>(name)]; }
    const Weights<T>& operator[](ParameterName name) const { return all[static_cast<std::size_t>(name)]; }
};

}  // namespace inkling::models
