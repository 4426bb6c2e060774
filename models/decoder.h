// What a decoder of any Architecture computes, written once for two sets of operations: on tensors, with gradients
// (models/transformer.cpp), and on rows, the next token of each of several texts (models/inference/rows.h). Both are a
// class Ops with the same functions on its Value, which holds a vector for each token; weights are Weights<Tensor<T>>.
//   x = embed(ops, model);
//   x = layer(ops, model.layers[i], i, x);                                // for each layer i
//   z = logits(ops, config, model.head(), norm(ops, config, model.parts[Part::final_norm], x));
#pragma once

#include <cmath>
#include <utility>

#include "engine/autograd/debug/anomaly.h"
#include "models/architecture.h"
#include "models/parameters.h"

namespace inkling::models::decoder {

// Places of rows in a cache that the next token gets a share of (KvCache::shifted).
constexpr std::size_t kEmbeddingPlace = 0;
constexpr std::size_t attention_place(std::size_t layer) { return 1 + 2 * layer; }
constexpr std::size_t mlp_place(std::size_t layer) { return 2 + 2 * layer; }

template <class Ops>
auto norm(Ops& ops, const Architecture& a, const typename Ops::Map& weights, const typename Ops::Value& x) {
    return ops.norm(a.norm, weights, x);
}

// The tokens' rows of the table, and of the table of positions: (..., C).
template <class Ops, class Model>
auto embed(Ops& ops, const Model& m) {
    const Architecture& a = m.config;
    typename Ops::Value x = ops.embed(m.parts[Part::token_table].weight);
    if (a.embedding_norm) x = norm(ops, a, {}, x);
    if (a.scaled_embedding) x = ops.scale(x, std::sqrt(static_cast<double>(a.n_embd)));
    if (a.positions == Positions::learned) x = ops.add_positions(x, m.parts[Part::position_table].weight);
    if (a.token_shift) x = ops.shift(m.parts[Part::token_shift].weight, kEmbeddingPlace, x);
    return ops.drop(x);
}

// A head's queries or keys, at their positions: norm(x) and rotate(x) in the family's order.
template <class X, class Norm, class Rotate>
X at_positions(const Architecture& a, X x, const Norm& norm, const Rotate& rotate) {
    if (a.head_norm == HeadNorm::before_rotary) x = norm(x);
    if (a.positions == Positions::rotary) x = rotate(x);
    if (a.head_norm == HeadNorm::after_rotary) x = norm(x);
    return x;
}

// Heads of queries (H d) look at heads of keys and values (K d), each of which serves H / K of them.
template <class Ops, class Layer>
auto attention(Ops& ops, const Architecture& a, const Layer& l, std::size_t i, const typename Ops::Value& x) {
    const Region region("attention");
    const auto project = [&](Part part) { return ops.project(part, l[part], x); };
    const auto attend = [&](const auto& q, const auto& k, const auto& v) {
        const auto y = ops.attend(l, i, q, k, v, a.attention_scale(i), a.window_of(i));
        return ops.project(Part::attention_output, l[Part::attention_output], y);
    };
    if (a.packed_qkv) {
        const auto qkv = ops.thirds(project(Part::query_key_value));
        return attend(qkv[0], qkv[1], qkv[2]);
    }
    const auto q = project(Part::query), k = project(Part::key), v = project(Part::value);
    return attend(q, k, v);
}

// The feed-forward part: down(activation(gate x) * up x), or down(activation(up x)).
template <class Ops, class Layer>
auto mlp(Ops& ops, const Architecture& a, const Layer& l, const typename Ops::Value& x) {
    const Region region("MLP");
    const auto project = [&](Part part) { return ops.project(part, l[part], x); };
    typename Ops::Value h = ops.activate(a.activation, project(a.gated ? Part::gate : Part::up));
    if (a.gated) h = ops.multiply(std::move(h), project(Part::up));
    return ops.project(Part::down, l[Part::down], ops.operand(h));
}

// x + attention(norm(x)), then + mlp(norm(of that)), or of x itself.
template <class Ops, class Layer>
auto layer(Ops& ops, const Architecture& a, const Layer& l, std::size_t i, typename Ops::Value x) {
    using Value = typename Ops::Value;
    const Region region("layer", i);
    const auto input = [&](Part norm_part, Part shift, std::size_t place) {
        Value y = norm(ops, a, l[norm_part], x);
        if (a.token_shift) y = ops.shift(l[shift].weight, place, y);
        return ops.operand(y);
    };
    const auto mlp_input = [&] { return input(Part::mlp_norm, Part::mlp_shift, mlp_place(i)); };
    const auto add = [&](Value y, Part norm_part) {
        if (a.part_norms) y = norm(ops, a, l[norm_part], y);
        x = ops.add(x, ops.drop(std::move(y)));
    };
    const Value in = input(Part::attention_norm, Part::attention_shift, attention_place(i));
    const Value side = a.parallel_residual ? mlp_input() : Value();
    add(attention(ops, a, l, i, in), Part::attention_output_norm);
    add(mlp(ops, a, l, a.parallel_residual ? side : mlp_input()), Part::mlp_output_norm);
    return x;
}

// (..., C), behind the last norm -> (..., V).
template <class Ops>
auto logits(Ops& ops, const Architecture& a, const typename Ops::Map& head, const typename Ops::Value& x) {
    const typename Ops::Value z = ops.project(Part::head, head, x);
    return a.softcap > 0 ? ops.softcap(z, a.softcap) : z;
}

}  // namespace inkling::models::decoder
