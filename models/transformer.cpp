#include "models/transformer.h"

#include "engine/base/interrupt.h"
#include "engine/ops.h"
#include "models/activation.h"
#include "models/decoder.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/checkpoint.h"

namespace inkling::models {

// The operations of models/decoder.h on tensors (B, T, C).
template <class T>
struct Transformer<T>::Ops : HiddenOptions<T> {
    using Value = Tensor<T>;
    using LayerWeights = Weights<T>;

    const Transformer& model;
    IdArray ids = {};
    RotaryTables<T> angles = {};
    Array<float> shifted = {};  // of the cache, after this pass
    const Architecture& config = model.config;

    Ops(const Transformer& m, const HiddenOptions<T>& options) : HiddenOptions<T>(options), model(m) {}

    bool drops() const { return model.training() && config.dropout > 0; }
    bool adapters_drop() const { return model.training() && model.adapter.dropout > 0; }
    // With a cache, as in a token step (inference/rows.h), only linear layers round to bfloat16; products of attention
    // and of low-rank adapters stay float32.
    Precision inner_precision() const { return this->cache ? Precision::fp32 : product_precision(); }

    Tensor<T> embed(const Weight<T>& table) const { return embedding(ids, table); }

    Tensor<T> add_positions(const Tensor<T>& x, const Tensor<T>& table) const {
        const IdArray& positions = this->documents.positions;
        const std::size_t start = this->cache ? this->cache->length() : 0;
        return add(x, positions.defined() ? embedding(positions, table) : slice(table, 0, start, start + x.dim(1)));
    }

    Tensor<T> norm(NormKind kind, const LayerWeights& w, const Tensor<T>& x) const {
        if (kind == NormKind::rms) return rms_norm(x, gain(w.weight), config.norm_epsilon);
        return layer_norm(x, gain(w.weight), w.bias.tensor(), config.norm_epsilon);
    }
    Tensor<T> gain(const Tensor<T>& weight) const { return config.norm_gain_plus_one ? affine(weight, 1, 1) : weight; }

    // x with a share of each row's predecessor, which for the first row is in the cache.
    Tensor<T> token_shift(const Tensor<T>& share, std::size_t cache_row, const Tensor<T>& x) {
        if constexpr (std::is_same_v<T, float>) {
            if (this->cache) {
                const std::size_t n = x.dim(1), C = x.dim(2);
                Array<float> row = shifted.sliced(0, cache_row, cache_row + 1);
                const Tensor<float> all = concatenate({Tensor<float>(row.reshaped({1, 1, C})), x}, 1);
                copy_into(row, x.value().sliced(1, n - 1, n).reshaped({1, C}));
                return slice(inkling::token_shift(all, share), 1, 1, n + 1);
            }
        }
        return inkling::token_shift(x, share, this->documents.positions);
    }

    Tensor<T> drop(Tensor<T> x) const {
        return drops() && config.residual_dropout ? dropout(x, config.dropout, this->random->next()) : x;
    }

    // A linear layer, with its low-rank adapter where it has one.
    Tensor<T> project(ParameterName, const LayerWeights& map, const Tensor<T>& x) const {
        Tensor<T> y = multiplied(map, x);
        if (!map.lora_a.defined()) return y;
        const WithPrecision precision(inner_precision());
        const AdapterOptions& adapter = model.adapter;
        const Tensor<T> in = adapters_drop() ? dropout(x, adapter.dropout, this->random->next()) : x;
        return add_low_rank(std::move(y), in, map.lora_a.tensor(), map.lora_b.tensor(), adapter.scale(map));
    }
    Tensor<T> multiplied(const LayerWeights& map, const Tensor<T>& x) const {
        constexpr std::size_t kFewTokens = 12;  // of a prompt: reading each weight once, as it is stored, is fastest
        if constexpr (std::is_same_v<T, float>) {
            if (this->cache && x.dim(1) <= kFewTokens) return linear_by_row(x, map.weight, map.bias);
        }
        return linear(x, map.weight, map.bias.tensor());
    }

    std::vector<Tensor<T>> thirds(const Tensor<T>& qkv) const { return split(qkv, 3, -1); }

    Tensor<T> attend(const Layer& l, std::size_t layer, const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                     double scale, std::size_t window) const {
        const auto qk_norm_and_rope = [&](const Tensor<T>& x, std::size_t n, ParameterName norm_name) {
            return decoder::qk_norm_and_rope(
                config, nn::split_heads(x, n),
                [&](const Tensor<T>& h) { return rms_norm(h, gain(l[norm_name].weight), config.norm_epsilon); },
                [&](const Tensor<T>& h) { return rotate(h, angles.of(config, layer), this->documents.positions); });
        };
        const Tensor<T> queries = qk_norm_and_rope(q, config.n_head, ParameterName::query_norm);
        Tensor<T> keys = qk_norm_and_rope(k, config.kv_heads(), ParameterName::key_norm);
        Tensor<T> values = nn::split_heads(v, config.kv_heads());
        if constexpr (std::is_same_v<T, float>) {
            if (this->cache) std::tie(keys, values) = this->cache->append(layer, keys, values);
        }
        AttentionOptions options{.scale = scale, .causal = true, .documents = this->documents};
        options.window = window;
        if (drops()) options.drop("attention", config.dropout, this->random);
        const WithPrecision precision(inner_precision());
        const auto wanted = this->attention_weights ? nn::NeedWeights::yes : nn::NeedWeights::no;
        const auto [y, probabilities] = nn::scaled_dot_product_attention(queries, keys, values, options, wanted);
        if (this->attention_weights) this->attention_weights->push_back(probabilities);
        return nn::merge_heads(y);
    }

    // The others are ops of the engine.
    Tensor<T> add(const Tensor<T>& x, Tensor<T> y) const { return inkling::add(x, std::move(y)); }
    Tensor<T> multiply(Tensor<T> x, Tensor<T> y) const { return mul(std::move(x), std::move(y)); }
    Tensor<T> scale(const Tensor<T>& x, double factor) const { return inkling::scale(x, factor); }
    Tensor<T> softcap(Tensor<T> x, double cap) const { return inkling::softcap(std::move(x), cap); }
    Tensor<T> activate(Activation activation, Tensor<T> x) const { return models::activate(activation, std::move(x)); }
    Tensor<T> matmul_input(const Tensor<T>& x) const { return x; }
};

template <class T>
Tensor<T> Transformer<T>::hidden(const IdArray& ids, const HiddenOptions<T>& options) const {
    const std::size_t start = options.cache ? options.cache->length() : 0;
    check(ids.rank() == 2 && ids.dim(1) >= 1 && start + ids.dim(1) <= config.block_size,
          "{}: ids (B, T) with T from 1 to the context of {} are required, got shape {} after {}", config.family,
          config.block_size, ids.shape(), start);
    Ops ops(*this, options);
    check(!(ops.drops() || ops.adapters_drop()) || options.random,
          "{}: training with dropout needs random numbers: pass a Generator", config.family);
    const IdArray& begins = options.documents.begins;
    check(!begins.defined() || begins.shape() == ids.shape(), "{}: begins must be (B, T) like ids, got {} and {}",
          config.family, begins.shape(), ids.shape());
    check(!options.cache || (std::is_same_v<T, float> && ids.dim(0) == 1 && !begins.defined() && NoGrad::active()),
          "{}: a cache is for one text, in float32, without a gradient", config.family);
    ops.ids = ids;
    ops.angles = rotary_->tables(start, ids.dim(1));
    if (options.cache) {
        options.cache->reserve(start + ids.dim(1));
        if (options.cache->shifted.defined()) ops.shifted = options.cache->shifted.clone();
    }

    Tensor<T> x = decoder::embed(ops, *this);  // (B, T, C)
    for (std::size_t i = 0; i < layers.size(); ++i) {
        Interruptible::check();
        if (checkpoint_activations && !options.attention_weights) {
            x = nn::checkpoint<T>(
                [this, i, ops](const Tensor<T>& in, Generator* keys) mutable {
                    ops.random = keys;
                    return decoder::layer(ops, config, layers[i], i, in);
                },
                x, ops.random);
        } else {
            x = decoder::layer(ops, config, layers[i], i, std::move(x));
        }
    }
    if (options.cache) options.cache->next_shifted = ops.shifted;
    const Region region("final norm");
    return decoder::norm(ops, config, outer[ParameterName::final_norm], x);
}

template <class T>
Tensor<T> Transformer<T>::logits(const Tensor<T>& x, Generator* random) const {
    Generator none;
    Ops ops(*this, {.random = random ? random : &none});
    return decoder::logits(ops, config, head(), x);
}

template <class T>
Tensor<T> Transformer<T>::loss(const IdArray& ids, const IdArray& targets, Generator* random,
                               const Documents& documents) const {
    const Tensor<T> x = hidden(ids, {.documents = documents, .random = random});
    Interruptible::check();
    const Region region("head");
    if (head().lora_a.defined()) return cross_entropy(logits(x, random), targets, kIgnore);
    return linear_cross_entropy(x, head().weight, targets, kIgnore, 0, config.softcap);
}

template class Transformer<float>;
template class Transformer<double>;

}  // namespace inkling::models
