#include "models/transformer.h"

#include "engine/base/interrupt.h"
#include "engine/ops.h"
#include "models/rotary_positions.h"
#include "nn/attention/multi_head.h"
#include "nn/checkpoint.h"

namespace inkling::models {
namespace {

template <class T>
Tensor<T> activate(Activation activation, Tensor<T> x) {
    switch (activation) {
        case Activation::squared_relu:
            return squared_relu(std::move(x));
        case Activation::silu:
            return silu(x);
        case Activation::relu:
            return relu(x);
        case Activation::gelu_erf:
            return gelu_erf(x);
        default:
            return gelu(std::move(x));
    }
}

}  // namespace

template <class T>
Tensor<T> Transformer<T>::hidden(const IdArray& ids, std::vector<Tensor<T>>* weights, Generator* random,
                                 const IdArray& begins) const {
    check(ids.rank() == 2 && ids.dim(1) >= 1 && ids.dim(1) <= config.block_size,
          "{}: ids (B, T) with T from 1 to the context of {} are required, got shape {}", config.family,
          config.block_size, ids.shape());
    check(!(drops() || adapters_drop()) || random, "{}: training with dropout needs random numbers: pass a Generator",
          config.family);
    check(!begins.defined() || begins.shape() == ids.shape(), "{}: begins must be (B, T) like ids, got {} and {}",
          config.family, begins.shape(), ids.shape());
    Generator none;
    Generator& keys = random ? *random : none;
    const Batch batch{begins, rotary_table<T>(config, ids.dim(1))};

    Tensor<T> x = embedding(ids, parts[Part::token_table].weight);  // (B, T, C)
    if (config.embedding_norm) x = norm({}, x);
    if (config.positions == Positions::learned) {
        const Tensor<T>& table = parts[Part::position_table].weight;
        const IdArray& positions = batch.documents.positions;
        x = add(x, positions.defined() ? embedding(positions, table) : slice(table, 0, 0, ids.dim(1)));
    }
    if (config.stream_dropout) x = dropped(x, keys);
    for (const Layer& l : layers) {
        Interruptible::check();
        if (checkpoint_activations && !weights) {
            x = nn::checkpoint<T>(
                [this, &l, batch](const Tensor<T>& in, Generator* layer_keys) {
                    return layer(l, in, *layer_keys, nullptr, batch);
                },
                x, &keys);
        } else {
            if (weights) weights->emplace_back();
            x = layer(l, x, keys, weights ? &weights->back() : nullptr, batch);
        }
    }
    const Region region("final norm");
    return norm(parts[Part::final_norm], x);
}

template <class T>
Tensor<T> Transformer<T>::layer(const Layer& l, const Tensor<T>& x_in, Generator& random, Tensor<T>* weights,
                                const Batch& batch) const {
    const Region region("block", static_cast<std::size_t>(&l - layers.data()));
    const auto wanted = weights ? nn::Weights::keep : nn::Weights::none;
    const nn::AttentionOutput<T> attended = attention(l, norm(l[Part::attention_norm], x_in), random, wanted, batch);
    if (weights) *weights = attended.weights;
    const auto keep = [&](const Tensor<T>& y) { return config.stream_dropout ? dropped(y, random) : y; };
    const Tensor<T> x = add(x_in, keep(attended.output));
    return add(x, keep(mlp(l, norm(l[Part::mlp_norm], config.parallel_residual ? x_in : x), random)));
}

// A linear layer, with its low-rank adapter where it has one.
template <class T>
Tensor<T> Transformer<T>::applied(const Weights<Tensor<T>>& map, const Tensor<T>& x, Generator& random) const {
    Tensor<T> y = linear(x, map.weight, map.bias);
    if (!map.lora_a.defined()) return y;
    const Tensor<T> in = adapters_drop() ? dropout(x, adapter.dropout, random.next()) : x;
    return add_low_rank(std::move(y), in, map.lora_a, map.lora_b, adapter.scale());
}

// Heads of queries (B, H, T, d) look at heads of keys and values (B, K, T, d), each of which serves H / K of them.
template <class T>
nn::AttentionOutput<T> Transformer<T>::attention(const Layer& l, const Tensor<T>& x, Generator& random,
                                                 nn::Weights wanted, const Batch& batch) const {
    const Region region("attention");
    const std::size_t H = config.n_head, K = config.kv_heads();
    const std::vector<Tensor<T>> packed =
        config.packed_qkv ? split(applied(l[Part::query_key_value], x, random), 3, -1) : std::vector<Tensor<T>>();
    const auto heads = [&](Part part, std::size_t i, std::size_t n) {
        return nn::split_heads(packed.empty() ? applied(l[part], x, random) : packed[i], n);
    };
    const Tensor<T> q = rotated(heads(Part::query, 0, H), l[Part::query_norm].weight, batch);
    const Tensor<T> k = rotated(heads(Part::key, 1, K), l[Part::key_norm].weight, batch);
    const Tensor<T> v = heads(Part::value, 2, K);
    AttentionOptions options;
    options.causal = true;
    options.documents = batch.documents;
    if (config.scale_by_layer) options.scale = config.attention_scale(static_cast<std::size_t>(&l - layers.data()));
    if (drops()) {
        options.dropout = config.dropout;
        options.dropout_key = random.next();
    }
    const auto [y, weights] = nn::scaled_dot_product_attention(q, k, v, options, wanted);
    return {applied(l[Part::attention_output], nn::merge_heads(y), random), weights};
}

template <class T>
Tensor<T> Transformer<T>::rotated(Tensor<T> x, const Tensor<T>& gain, const Batch& batch) const {
    if (config.head_norm == HeadNorm::before_rotary) x = rms_norm(x, gain, config.norm_epsilon);
    if (config.positions == Positions::rotary) x = rotate(x, batch.angles, batch.documents.positions);
    if (config.head_norm == HeadNorm::after_rotary) x = rms_norm(x, gain, config.norm_epsilon);
    return x;
}

template <class T>
Tensor<T> Transformer<T>::mlp(const Layer& l, const Tensor<T>& x, Generator& random) const {
    const Region region("MLP");
    if (!config.gated) {
        return applied(l[Part::down], activate(config.activation, applied(l[Part::up], x, random)), random);
    }
    const Tensor<T> gate = activate(config.activation, applied(l[Part::gate], x, random));
    return applied(l[Part::down], mul(gate, applied(l[Part::up], x, random)), random);
}

template <class T>
Tensor<T> Transformer<T>::norm(const Weights<Tensor<T>>& w, const Tensor<T>& x) const {
    if (config.norm == NormKind::rms) return rms_norm(x, w.weight, config.norm_epsilon);
    return layer_norm(x, w.weight, w.bias, config.norm_epsilon);
}

template <class T>
Tensor<T> Transformer<T>::dropped(const Tensor<T>& x, Generator& random) const {
    return drops() ? dropout(x, config.dropout, random.next()) : x;
}

template <class T>
Tensor<T> Transformer<T>::logits(const Tensor<T>& x, Generator* random) const {
    Generator none;
    const Tensor<T> z =
        head_adapted() ? applied(parts[Part::head], x, random ? *random : none) : linear(x, head_weight());
    return config.softcap > 0 ? softcap(z, config.softcap) : z;
}

template <class T>
Tensor<T> Transformer<T>::loss(const IdArray& ids, const IdArray& targets, Generator* random,
                               const IdArray& begins) const {
    const Tensor<T> x = hidden(ids, nullptr, random, begins);
    Interruptible::check();
    const Region region("head");
    if (head_adapted()) return cross_entropy(logits(x, random), targets, kIgnore);
    return linear_cross_entropy(x, head_weight(), targets, kIgnore, 0, config.softcap);
}

template class Transformer<float>;
template class Transformer<double>;

}  // namespace inkling::models
