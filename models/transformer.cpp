#include "models/transformer.h"

#include "engine/autograd/debug/anomaly.h"
#include "engine/base/interrupt.h"
#include "engine/ops.h"
#include "models/activation.h"
#include "nn/attention/multi_head.h"
#include "nn/checkpoint.h"

namespace inkling::models {
namespace {

constexpr std::size_t kFewTokens = 12;  // of a prompt: reading each weight once, as it is stored, is fastest

// A text in a cache is computed as token by token (token_step.cpp): of --precision bf16, products with the layers' own
// weights alone are in bfloat16.
template <class T>
Precision inner_precision(const HiddenOptions<T>& options) {
    return options.cache ? Precision::fp32 : product_precision();
}

template <class T>
Tensor<T> multiplied(const Weights<Tensor<T>>& map, const Tensor<T>& x, const HiddenOptions<T>& options) {
    if constexpr (std::is_same_v<T, float>) {
        if (options.cache && x.dim(1) <= kFewTokens) return linear_by_row(x, map.weight, map.bias);
    }
    return linear(x, map.weight, map.bias);
}

}  // namespace

template <class T>
Tensor<T> Transformer<T>::hidden(const IdArray& ids, const HiddenOptions<T>& options) const {
    const std::size_t start = options.cache ? options.cache->length() : 0;
    check(ids.rank() == 2 && ids.dim(1) >= 1 && start + ids.dim(1) <= config.block_size,
          "{}: ids (B, T) with T from 1 to the context of {} are required, got shape {} after {}", config.family,
          config.block_size, ids.shape(), start);
    check(!(drops() || adapters_drop()) || options.random,
          "{}: training with dropout needs random numbers: pass a Generator", config.family);
    const IdArray& begins = options.documents.begins;
    check(!begins.defined() || begins.shape() == ids.shape(), "{}: begins must be (B, T) like ids, got {} and {}",
          config.family, begins.shape(), ids.shape());
    check(!options.cache || (ids.dim(0) == 1 && !begins.defined() && NoGrad::active()),
          "{}: a cache is for one text, without a gradient", config.family);
    Pass pass{options, {config, start, ids.dim(1)}};
    if (options.cache) {
        options.cache->reserve(start + ids.dim(1));
        if (config.token_shift) pass.shifted = options.cache->shifted.clone();
    }

    Tensor<T> x = embedding(ids, parts[Part::token_table].weight);  // (B, T, C)
    if (config.embedding_norm) x = norm({}, x);
    if (config.scaled_embedding) x = scale(x, std::sqrt(static_cast<double>(config.n_embd)));
    if (config.positions == Positions::learned) {
        const Tensor<T>& table = parts[Part::position_table].weight;
        const IdArray& positions = pass.documents.positions;
        x = add(x, positions.defined() ? embedding(positions, table) : slice(table, 0, start, start + ids.dim(1)));
    }
    x = drop(shift(parts[Part::token_shift].weight, 0, x, pass), pass);
    for (const Layer& l : layers) {
        Interruptible::check();
        if (checkpoint_activations && !options.weights) {
            x = nn::checkpoint<T>(
                [this, &l, pass](const Tensor<T>& in, Generator* keys) mutable {
                    pass.random = keys;
                    return layer(l, in, pass);
                },
                x, pass.random);
        } else {
            x = layer(l, std::move(x), pass);
        }
    }
    if (options.cache) options.cache->next_shifted = pass.shifted;
    const Region region("final norm");
    return norm(parts[Part::final_norm], x);
}

template <class T>
Tensor<T> Transformer<T>::layer(const Layer& l, Tensor<T> x, const Pass& pass) const {
    const std::size_t i = static_cast<std::size_t>(&l - layers.data());
    const Region region("layer", i);
    const auto input = [&](Part norm_part, Part share, std::size_t place) {
        return shift(l[share].weight, place, norm(l[norm_part], x), pass);
    };
    const Tensor<T> y = add(x, added(attention(l, input(Part::attention_norm, Part::attention_shift, 1 + 2 * i), pass),
                                     l[Part::attention_output_norm], pass));
    if (!config.parallel_residual) x = y;
    return add(y,
               added(mlp(l, input(Part::mlp_norm, Part::mlp_shift, 2 + 2 * i), pass), l[Part::mlp_output_norm], pass));
}

// x with a share of each row's predecessor, which for the first row is in the cache.
template <class T>
Tensor<T> Transformer<T>::shift(const Tensor<T>& share, std::size_t place, const Tensor<T>& x, const Pass& pass) const {
    if (!share.defined()) return x;
    if constexpr (std::is_same_v<T, float>) {
        if (pass.cache) {
            const std::size_t n = x.dim(1), C = x.dim(2);
            Array<float> row = pass.shifted.sliced(0, place, place + 1);
            const Tensor<float> all = concatenate({Tensor<float>(row.reshaped({1, 1, C})), x}, 1);
            copy_into(row, x.value().sliced(1, n - 1, n).reshaped({1, C}));
            return slice(token_shift(all, share), 1, 1, n + 1);
        }
    }
    return token_shift(x, share, pass.documents.positions);
}

// A part's output, to be added to the stream.
template <class T>
Tensor<T> Transformer<T>::added(Tensor<T> x, const Weights<Tensor<T>>& w, const Pass& pass) const {
    return drop(config.part_norms ? norm(w, x) : std::move(x), pass);
}

// A linear layer, with its low-rank adapter where it has one.
template <class T>
Tensor<T> Transformer<T>::project(const Weights<Tensor<T>>& map, const Tensor<T>& x, const Pass& pass) const {
    Tensor<T> y = multiplied(map, x, pass);
    if (!map.lora_a.defined()) return y;
    const WithPrecision precision(inner_precision(pass));
    const Tensor<T> in = adapters_drop() ? dropout(x, adapter.dropout, pass.random->next()) : x;
    return add_low_rank(std::move(y), in, map.lora_a, map.lora_b, adapter.scale(map));
}

// Heads of queries (B, H, T, d) look at heads of keys and values (B, K, T, d), each of which serves H / K of them.
template <class T>
Tensor<T> Transformer<T>::attention(const Layer& l, const Tensor<T>& x, const Pass& pass) const {
    const Region region("attention");
    const std::size_t H = config.n_head, K = config.kv_heads(), i = static_cast<std::size_t>(&l - layers.data());
    const std::vector<Tensor<T>> packed =
        config.packed_qkv ? split(project(l[Part::query_key_value], x, pass), 3, -1) : std::vector<Tensor<T>>();
    const auto heads = [&](Part part, std::size_t third, std::size_t n) {
        return nn::split_heads(packed.empty() ? project(l[part], x, pass) : packed[third], n);
    };
    const Tensor<T> q = rotate_heads(heads(Part::query, 0, H), l[Part::query_norm].weight, i, pass);
    Tensor<T> k = rotate_heads(heads(Part::key, 1, K), l[Part::key_norm].weight, i, pass), v = heads(Part::value, 2, K);
    if (pass.cache) std::tie(k, v) = pass.cache->append(i, k, v);
    AttentionOptions options{.scale = config.attention_scale(i), .causal = true, .documents = pass.documents};
    options.window = config.window_of(i);
    if (drops()) options.drop("attention", config.dropout, pass.random);
    const auto [y, weights] = [&] {
        const WithPrecision precision(inner_precision(pass));
        const auto wanted = pass.weights ? nn::NeedWeights::yes : nn::NeedWeights::no;
        return nn::scaled_dot_product_attention(q, k, v, options, wanted);
    }();
    if (pass.weights) pass.weights->push_back(weights);
    return project(l[Part::attention_output], nn::merge_heads(y), pass);
}

template <class T>
Tensor<T> Transformer<T>::rotate_heads(Tensor<T> x, const Tensor<T>& weight, std::size_t layer,
                                       const Pass& pass) const {
    if (config.head_norm == HeadNorm::before_rotary) x = rms_norm(x, gain(weight), config.norm_epsilon);
    if (config.positions == Positions::rotary) x = rotate(x, pass.angles.of(config, layer), pass.documents.positions);
    if (config.head_norm == HeadNorm::after_rotary) x = rms_norm(x, gain(weight), config.norm_epsilon);
    return x;
}

template <class T>
Tensor<T> Transformer<T>::mlp(const Layer& l, const Tensor<T>& x, const Pass& pass) const {
    const Region region("MLP");
    Tensor<T> h = activate(config.activation, project(l[config.gated ? Part::gate : Part::up], x, pass));
    if (config.gated) h = mul(std::move(h), project(l[Part::up], x, pass));
    return project(l[Part::down], h, pass);
}

template <class T>
Tensor<T> Transformer<T>::norm(const Weights<Tensor<T>>& w, const Tensor<T>& x) const {
    if (config.norm == NormKind::rms) return rms_norm(x, gain(w.weight), config.norm_epsilon);
    return layer_norm(x, gain(w.weight), w.bias, config.norm_epsilon);
}

template <class T>
Tensor<T> Transformer<T>::gain(const Tensor<T>& weight) const {
    return config.norm_gain_plus_one ? affine(weight, 1, 1) : weight;
}

template <class T>
Tensor<T> Transformer<T>::drop(Tensor<T> x, const Pass& pass) const {
    return drops() && config.stream_dropout ? dropout(x, config.dropout, pass.random->next()) : x;
}

template <class T>
Tensor<T> Transformer<T>::logits(const Tensor<T>& x, Generator* random) const {
    Generator none;
    Pass pass;
    pass.random = random ? random : &none;
    Tensor<T> z = project(head(), x, pass);
    return config.softcap > 0 ? softcap(std::move(z), config.softcap) : z;
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
