// Decoder::read: many tokens at once, through the ops that training uses.
#include "engine/ops.h"
#include "engine/parallel.h"
#include "models/decoder.h"

namespace inkling::models {
namespace {

using Rows = Array<float>;  // (n, width)

// (n, H d) -> (1, H, n, d), a view
Rows split_heads(const Rows& x, std::size_t heads) {
    const std::size_t n = x.dim(0), d = x.dim(1) / heads;
    return x.reshaped({1, n, heads, d}).transposed(1, 2);
}

Rows normalized(const DecoderWeights& w, const Norm& norm, const Rows& x) {
    Rows y(x.shape());
    parallel_rows(x.dim(0), x.dim(1), [&](std::size_t begin, std::size_t end) {
        const std::size_t C = x.dim(1);
        w.normalize(norm, x.data() + begin * C, end - begin, y.data() + begin * C);
    });
    return y;
}

Rows turned(const DecoderWeights& w, const Rows& heads, std::size_t start) {
    if (w.angles.empty()) return heads;
    const Tensor<float> x = rotary(Tensor<float>(heads), {w.config.rope_theta, RotaryPairs::halves, true, start});
    return rms_norm(x, {}, w.config.layer_norm_epsilon).value();
}

// Keys and values of n tokens go to the cache, behind what it holds; then their queries look at all that they may.
Rows attended(const DecoderWeights& w, std::size_t layer, const Rows& q_rows, const Rows& k, const Rows& v,
              KvCache& cache) {
    const GPTConfig& c = w.config;
    const std::size_t n = q_rows.dim(0), start = cache.length(), group = c.n_head / c.kv_heads();
    Rows keys = cache.keys(layer).sliced(2, start, start + n), values = cache.values(layer).sliced(2, start, start + n);
    copy_into(keys, turned(w, split_heads(k, c.kv_heads()), start));
    copy_into(values, split_heads(v, c.kv_heads()));
    const auto all = [&](const Rows& kept) {  // (1, H, start + n, d)
        const Tensor<float> heads(kept.sliced(2, 0, start + n));
        return group == 1 ? heads : repeat(heads, group, 1);
    };
    FusedAttention options;
    options.causal = true;
    options.scale = 1 / std::sqrt(static_cast<double>(c.head_size()));
    const Tensor<float> q(turned(w, split_heads(q_rows, c.n_head), start));
    const Tensor<float> y = attention(q, all(cache.keys(layer)), all(cache.values(layer)), options);
    return y.value().transposed(1, 2).reshaped({n, c.n_embd});
}

}  // namespace

void Decoder::read(KvCache& cache, std::span<const std::int32_t> tokens, std::span<float> logits) const {
    check_room(cache, tokens);
    const DecoderWeights& w = weights_;
    const std::size_t n = tokens.size(), C = w.config.n_embd, V = w.config.vocab_size, start = cache.length();
    check(logits.size() == V, "Decoder: {} logits are required, got {}", V, logits.size());
    const NoGrad no_grad;
    cache.reserve(start + n);
    Rows x({n, C});
    for (std::size_t i = 0; i < n; ++i) embed(tokens[i], start + i, x.data() + i * C);
    for (std::size_t l = 0; l < w.layers.size(); ++l) {
        const DecoderLayer& layer = w.layers[l];
        const Rows h = normalized(w, layer.before_attention, x);
        std::vector<Rows> made;
        for (const Projection& p : layer.qkv) made.push_back(p.weight.product(h, p.bias));
        if (made.size() == 1) {
            const Rows qkv = made[0];
            made = {qkv.sliced(1, 0, C), qkv.sliced(1, C, 2 * C), qkv.sliced(1, 2 * C, 3 * C)};
        }
        add_into(x, layer.out.weight.product(attended(w, l, made[0], made[1], made[2], cache), layer.out.bias));
        Rows inner = layer.up.weight.product(normalized(w, layer.before_mlp, x), layer.up.bias);
        parallel_for(inner.size(), kGrain / 4,
                     [&](std::size_t begin, std::size_t end) { w.activate(inner.data() + begin, end - begin); });
        add_into(x, layer.down.weight.product(inner, layer.down.bias));
    }
    cache.set_length(start + n);
    Rows last({1, C});
    w.normalize(w.last, x.data() + (n - 1) * C, 1, last.data());
    round_for(w.type, last.data(), C);
    parallel_rows(V, C, [&](std::size_t begin, std::size_t end) {
        w.head.apply(begin, end, last.data(), 1, logits.data(), V);
        w.cap(logits.data() + begin, end - begin);
    });
}

}  // namespace inkling::models
