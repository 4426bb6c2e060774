// The computation of a decoder of any Architecture, written once for two classes of operations: on tensors, with
// gradients (models/tensor_ops.h), and on rows, the next token of each of several texts (models/inference/rows.h).
//   x = embed(ops, model);
//   x = layer(ops, config, model.layers[i], i, x);         // for each layer i
//   z = logits(ops, config, model.head(), norm(ops, config, model.outer[ParameterName::final_norm], x));
// A class of operations has a type Value, which holds a vector for each token, and these functions:
//   embed(table)  add_positions(x, table)  token_shift(share, cache_row, x)  norm(kind, weights, x)
//   project(name, weights, x)      a linear layer, with its low-rank adapter
//   split_qkv(qkv)  attend(layer_weights, layer, q, k, v, scale, window)
//   activate(kind, x)  multiply(x, y)  scale(x, factor)  softcap(x, cap)  drop(x)
//   matmul_input(x)                x as a matrix product reads it, rounded to --precision; attend() rounds its result
//   add(x, y)                      x + y
//   observe(name, layer, x)        x, or the value that an observer replaces it with
// An operation may overwrite its first Value: use only the result.
#pragma once

#include <cmath>
#include <utility>

#include "engine/autograd/debug/anomaly.h"
#include "models/architecture.h"
#include "models/parameters.h"

namespace inkling::models::decoder {

using enum ParameterName;

// Rows of KvCache::shifted, which the next token gets a share of.
constexpr std::size_t kEmbeddingRow = 0;
constexpr std::size_t attention_row(std::size_t layer) { return 1 + 2 * layer; }
constexpr std::size_t mlp_row(std::size_t layer) { return 2 + 2 * layer; }

template <class Ops>
auto norm(Ops& ops, const Architecture& a, const typename Ops::LayerWeights& weights, const typename Ops::Value& x) {
    return ops.norm(a.norm, weights, x);
}

// The tokens' rows of the table, and of the table of positions: (..., C).
template <class Ops, class Model>
auto embed(Ops& ops, const Model& m) {
    const Architecture& a = m.config;
    typename Ops::Value x = ops.embed(m.outer[token_table].weight);
    if (a.embedding_norm) x = norm(ops, a, {}, x);
    if (a.scaled_embedding) x = ops.scale(x, std::sqrt(static_cast<double>(a.n_embd)));
    if (a.positions == Positions::learned) x = ops.add_positions(x, m.outer[position_table].weight);
    if (a.token_shift) x = ops.token_shift(m.outer[token_shift].weight, kEmbeddingRow, x);
    return ops.drop(x);
}

// A head's queries or keys: norm(x) and rotate(x) in the family's order.
template <class X, class Norm, class Rotate>
X qk_norm_and_rope(const Architecture& a, X x, const Norm& norm, const Rotate& rotate) {
    if (a.head_norm == HeadNorm::before_rotary) x = norm(x);
    if (a.positions == Positions::rotary) x = rotate(x);
    if (a.head_norm == HeadNorm::after_rotary) x = norm(x);
    return x;
}

// Grouped-query attention: H heads of queries, K heads of keys and values, each of which serves H / K heads of queries.
template <class Ops, class Layer>
auto attention(Ops& ops, const Architecture& a, const Layer& l, std::size_t i, const typename Ops::Value& x) {
    const Region region("attention");
    const auto project = [&](ParameterName name) { return ops.project(name, l[name], x); };
    const auto attend = [&](const auto& q, const auto& k, const auto& v) {
        const auto y = ops.attend(l, i, q, k, v, a.attention_scale(i), a.window_of(i));
        return ops.project(attention_output, l[attention_output], y);
    };
    if (a.packed_qkv) {
        const auto qkv = ops.split_qkv(project(query_key_value));
        return attend(qkv[0], qkv[1], qkv[2]);
    }
    const auto q = project(query), k = project(key), v = project(value);
    return attend(q, k, v);
}

// The feed-forward part: down(activation(gate x) * up x), or down(activation(up x)).
template <class Ops, class Layer>
auto mlp(Ops& ops, const Architecture& a, const Layer& l, const typename Ops::Value& x) {
    const Region region("MLP");
    const auto project = [&](ParameterName name) { return ops.project(name, l[name], x); };
    typename Ops::Value h = ops.activate(a.activation, project(a.gated ? gate : up));
    if (a.gated) h = ops.multiply(std::move(h), project(up));
    return ops.project(down, l[down], ops.matmul_input(h));
}

// x += attention(norm(x)), then x += mlp(norm(x)); with parallel_residual both read the old x.
template <class Ops, class Layer>
auto layer(Ops& ops, const Architecture& a, const Layer& l, std::size_t i, typename Ops::Value x) {
    using Value = typename Ops::Value;
    const Region region("layer", i);
    const auto input = [&](const Value& from, ParameterName norm_name, ParameterName share, std::size_t cache_row) {
        Value y = norm(ops, a, l[norm_name], from);
        if (a.token_shift) y = ops.token_shift(l[share].weight, cache_row, y);
        return ops.matmul_input(y);
    };
    const auto mlp_input = [&](const Value& from) { return input(from, mlp_norm, mlp_shift, mlp_row(i)); };
    const auto add = [&](const Value& to, Value y, ParameterName norm_name, const char* name) {
        if (a.post_norms) y = norm(ops, a, l[norm_name], y);
        return ops.add(to, ops.observe(name, i, ops.drop(std::move(y))));
    };
    x = ops.observe("input", i, std::move(x));
    const Value in = input(x, attention_norm, attention_shift, attention_row(i));
    const Value side = a.parallel_residual ? mlp_input(x) : Value();
    x = add(x, attention(ops, a, l, i, in), attention_output_norm, "attention_output");
    x = add(x, mlp(ops, a, l, a.parallel_residual ? side : mlp_input(x)), mlp_output_norm, "mlp_output");
    return ops.observe("output", i, std::move(x));
}

// (..., C), behind the last norm -> (..., V).
template <class Ops>
auto logits(Ops& ops, const Architecture& a, const typename Ops::LayerWeights& weights, const typename Ops::Value& x) {
    const typename Ops::Value z = ops.project(head, weights, x);
    return a.softcap > 0 ? ops.softcap(z, a.softcap) : z;
}

}  // namespace inkling::models::decoder
