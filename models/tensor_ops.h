// The operations of models/decoder.h on tensors (B, T, C), with gradients: for training, evaluation and prompts.
#pragma once

#include "engine/base/interrupt.h"
#include "engine/ops.h"
#include "models/decoder.h"
#include "models/transformer.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/scaled_dot_product.h"

namespace inkling::models {

template <class T>
struct TensorOps : HiddenOptions<T> {
    using Value = Tensor<T>;
    using LayerWeights = Weights<T>;

    const Transformer<T>& model;
    IdArray ids = {};
    RotaryTables<T> angles = {};
    Array<float> shifted = {};  // of the cache, after this pass
    const Architecture& config = model.config;
    std::map<const Weight<T>*, std::string> modules = {};  // names of those that can be observed, by their weight

    TensorOps(const Transformer<T>& m, const HiddenOptions<T>& options) : HiddenOptions<T>(options), model(m) {
        if (this->observers)
            for (const ParameterSpec& p : m.specs())
                if (const std::string name = m.module_name(p); !name.empty()) modules[&m.at(p)] = name;
    }

    Tensor<T> observe(const char* name, std::size_t layer, Tensor<T> x) const {
        if (!this->observers) return x;
        return observed("layers." + std::to_string(layer) + "." + name, std::move(x));
    }
    // The output of the module that has this weight.
    Tensor<T> observe(const Weight<T>& weight, Tensor<T> y) const {
        if (!this->observers) return y;
        const auto module = modules.find(&weight);
        return module == modules.end() ? y : observed(module->second, std::move(y));
    }
    Tensor<T> observed(const std::string& name, Tensor<T> x) const {
        if (!this->observers || !this->observers->contains(name)) return x;
        Tensor<T> y = this->observers->at(name)(x);
        check(y.shape() == x.shape(), "{}: an observer must return a tensor of shape {}, got {}", name, x.shape(),
              y.shape());
        return y;
    }

    bool drops() const { return model.training() && config.dropout > 0; }
    bool adapters_drop() const { return model.training() && model.adapter.dropout > 0; }
    // With a cache, as in a token step (inference/rows.h), only linear layers round to bfloat16; products of attention
    // and of low-rank adapters stay float32.
    Precision inner_precision() const { return this->cache ? Precision::fp32 : product_precision(); }

    Tensor<T> embed(const Weight<T>& table) const { return observe(table, embedding(ids, table)); }

    Tensor<T> add_positions(const Tensor<T>& x, const Tensor<T>& table) const {
        const IdArray& positions = this->documents.positions;
        const std::size_t start = this->cache ? this->cache->length() : 0;
        return add(x, positions.defined() ? embedding(positions, table) : slice(table, 0, start, start + x.dim(1)));
    }

    Tensor<T> norm(NormKind kind, const LayerWeights& w, const Tensor<T>& x) const {
        if (kind == NormKind::rms) return observe(w.weight, rms_norm(x, gain(w.weight), config.norm_epsilon));
        return observe(w.weight, layer_norm(x, gain(w.weight), w.bias.tensor(), config.norm_epsilon));
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
    Tensor<T> project(ParameterName name, const LayerWeights& map, const Tensor<T>& x) const {
        if (this->cache) Interruptible::check();  // a layer of a long prompt takes long
        const Weight<T>& weight = name == ParameterName::head ? model.outer[name].weight : map.weight;  // not a copy
        Tensor<T> y = multiplied(map, x);
        if (!map.lora_a.defined()) return observe(weight, std::move(y));
        const WithPrecision precision(inner_precision());
        const AdapterOptions& adapter = model.adapter;
        const Tensor<T> in = adapters_drop() ? dropout(x, adapter.dropout, this->random->next()) : x;
        y = add_low_rank(std::move(y), in, map.lora_a.tensor(), map.lora_b.tensor(), adapter.scale(map));
        return observe(weight, std::move(y));
    }
    Tensor<T> multiplied(const LayerWeights& map, const Tensor<T>& x) const {
        constexpr std::size_t kFewTokens = 12;  // of a prompt: reading each weight once, as it is stored, is fastest
        if constexpr (std::is_same_v<T, float>) {
            const auto& packed = map.weight.packed();  // linear decides about blocks
            const bool by_row = this->cache || (packed && !packed->blocks() && x.dim(0) == 1 && NoGrad::active());
            if (by_row && x.dim(1) <= kFewTokens) return linear_by_row(x, map.weight, map.bias);
        }
        return linear(x, map.weight, map.bias.tensor());
    }

    std::vector<Tensor<T>> split_qkv(const Tensor<T>& qkv) const { return split(qkv, 3, -1); }

    Tensor<T> attend(const NamedWeights<T>& l, std::size_t layer, const Tensor<T>& q, const Tensor<T>& k,
                     const Tensor<T>& v, double scale, std::size_t window) const {
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
        const Tensor<T> heads = observe("heads", layer, transpose(y, 1, 2));
        return reshape(heads, {heads.dim(0), heads.dim(1), config.query_width()});
    }

    Tensor<T> activate(Activation activation, Tensor<T> x) const {
        switch (activation) {
            case Activation::gelu_tanh:
                return gelu(std::move(x));
            case Activation::gelu_erf:
                return gelu_erf(std::move(x));
            case Activation::relu:
                return relu(std::move(x));
            case Activation::squared_relu:
                return squared_relu(std::move(x));
            case Activation::silu:
                return silu(std::move(x));
        }
        return x;
    }

    // The others are ops of the engine.
    Tensor<T> add(const Tensor<T>& x, Tensor<T> y) const { return inkling::add(x, std::move(y)); }
    Tensor<T> multiply(Tensor<T> x, Tensor<T> y) const { return mul(std::move(x), std::move(y)); }
    Tensor<T> scale(const Tensor<T>& x, double factor) const { return inkling::scale(x, factor); }
    Tensor<T> softcap(Tensor<T> x, double cap) const { return inkling::softcap(std::move(x), cap); }
    Tensor<T> matmul_input(const Tensor<T>& x) const { return x; }
};

}  // namespace inkling::models
