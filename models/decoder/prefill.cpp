// Decoder::read: many tokens at once, through the ops that training uses.
#include "engine/base/float_mode.h"
#include "engine/base/interrupt.h"
#include "engine/base/parallel.h"
#include "engine/kernels/simd.h"
#include "engine/ops.h"
#include "models/decoder/decoder.h"

namespace inkling::models {
namespace {

using Rows = Array<float>;  // (n, width)
using ConstRows = ConstArray<float>;

// (n, H d) -> (1, H, n, d), a view
Rows split_heads(const Rows& x, std::size_t heads) {
    const std::size_t n = x.dim(0), d = x.dim(1) / heads;
    return x.reshaped({1, n, heads, d}).transposed(1, 2);
}

Rows normalized(const DecoderWeights& w, const Norm& norm, const ConstRows& x) {
    Rows y(x.shape());
    parallel_rows(x.dim(0), x.dim(1), [&](std::size_t begin, std::size_t end) {
        const std::size_t C = x.dim(1);
        w.normalize(norm, x.data() + begin * C, end - begin, y.data() + begin * C);
    });
    return y;
}

// Queries or keys (1, H, n, d) of n tokens from position `start` on, in place.
void rotate_heads(const DecoderWeights& w, Rows& heads, std::size_t start, const ConstArray<float>& gain) {
    const std::size_t n = heads.dim(2);
    parallel_rows(heads.dim(1) * n, heads.dim(3), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) w.rotate(&heads(0, i / n, i % n, 0), start + i % n, gain);
    });
}

// Keys and values of n tokens go to the cache, behind what it holds; then their queries look at all that they may.
ConstRows attended(const DecoderWeights& w, std::size_t layer, const Rows& q_rows, const Rows& k, const Rows& v,
                   KvCache& cache) {
    const Architecture& c = w.config;
    const std::size_t n = q_rows.dim(0), start = cache.length();
    Rows keys = cache.keys(layer).sliced(2, start, start + n), values = cache.values(layer).sliced(2, start, start + n);
    copy_into(keys, split_heads(k, c.kv_heads()));
    rotate_heads(w, keys, start, w.layers[layer].key_gain);
    copy_into(values, split_heads(v, c.kv_heads()));
    const auto all = [&](const Rows& kept) { return Tensor<float>(kept.sliced(2, 0, start + n)); };
    AttentionOptions options;
    options.causal = true;
    options.scale = c.attention_scale(layer);
    Rows q = split_heads(q_rows, c.n_head);
    rotate_heads(w, q, start, w.layers[layer].query_gain);
    const Tensor<float> y = attention(Tensor<float>(q), all(cache.keys(layer)), all(cache.values(layer)), options);
    return y.value().transposed(1, 2).reshaped({n, c.query_width()});
}

}  // namespace

// x (n, C): what the last layer leaves.
void Decoder::read_logits(const Array<float>& x, const EachLogits& each) const {
    constexpr std::size_t kRows = 64;  // whose logits are in memory at a time
    const DecoderWeights& w = weights_;
    const std::size_t n = x.dim(0), V = w.config.vocab_size;
    for (std::size_t begin = 0; begin < n; begin += kRows) {
        const std::size_t end = std::min(n, begin + kRows);
        Rows logits = w.head.product(normalized(w, w.last, x.sliced(0, begin, end)), w.precision());
        parallel_for(end - begin, 1, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                float* const row = logits.data() + i * V;
                w.cap(row, V);
                each(begin + i, std::span<const float>(row, V));
            }
        });
    }
}

void Decoder::read(KvCache& cache, std::span<const std::int32_t> tokens, std::span<float> logits,
                   const EachLogits& each) const {
    check_room(cache, tokens);
    const DecoderWeights& w = weights_;
    const std::size_t n = tokens.size(), C = w.config.n_embd, V = w.config.vocab_size, start = cache.length();
    const Precision precision = w.precision();
    check(logits.size() == V, "Decoder: {} logits are required, got {}", V, logits.size());
    const NoGrad no_grad;
    const StandardNumbers numbers;
    cache.reserve(start + n);
    Rows x({n, C});
    for (std::size_t i = 0; i < n; ++i) embed(tokens[i], start + i, x.data() + i * C);
    for (std::size_t l = 0; l < w.layers.size(); ++l) {
        Interruptible::check();
        const DecoderLayer& layer = w.layers[l];
        const Rows h = normalized(w, layer.before_attention, x);
        const Rows ahead = w.config.parallel_residual ? normalized(w, layer.before_mlp, x) : Rows();
        std::vector<Rows> made;
        for (const Projection& p : layer.qkv) made.push_back(p.product(h, precision));
        if (made.size() == 1) {
            const Rows qkv = made[0];
            const std::size_t width = w.config.query_width();
            made = {qkv.sliced(1, 0, width), qkv.sliced(1, width, 2 * width), qkv.sliced(1, 2 * width, 3 * width)};
        }
        add_into(x, layer.out.product(attended(w, l, made[0], made[1], made[2], cache), precision));
        const Rows normed = ahead.defined() ? ahead : normalized(w, layer.before_mlp, x);
        Rows inner = layer.up.product(normed, precision);
        Rows gate = w.config.gated ? layer.gate.product(normed, precision) : Rows();
        parallel_for(inner.size(), kGrain / 4, [&](std::size_t begin, std::size_t end) {
            float* const up = inner.data() + begin;
            if (!gate.defined()) return w.activate(up, end - begin);
            w.activate(gate.data() + begin, end - begin);
            simd_map(
                end - begin, up, [](auto u, auto g) { return u * g; }, up, gate.data() + begin);
        });
        add_into(x, layer.down.product(inner, precision));
    }
    cache.set_length(start + n);
    if (each) read_logits(x, each);
    Rows last({1, C});
    w.normalize(w.last, x.data() + (n - 1) * C, 1, last.data());
    round_for(w.precision(), last.data(), C);
    parallel_rows(V, C, [&](std::size_t begin, std::size_t end) {
        w.head.apply(begin, end, last.data(), 1, logits.data(), V);
        w.cap(logits.data() + begin, end - begin);
    });
}

}  // namespace inkling::models
