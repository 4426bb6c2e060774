#include "models/decoder.h"

#include <omp.h>

#include <cmath>

#include "engine/float_mode.h"
#include "engine/kernels/simd.h"
#include "engine/parallel.h"

namespace inkling::models {
namespace {

// Of weights that are worth a thread of their own. Less is quicker with two threads than with one only while no other
// program wants the second processor; else each of a step's waits, 5 a layer, may take a turn of that program's.
constexpr std::size_t kBytesAThread = std::size_t{4} << 20;

// Vectors of these that lie across cache lines take half as long again to multiply with.
using Floats = std::vector<float, xsimd::aligned_allocator<float, 64>>;

// Threads that go through a step together: each takes its part of the rows, and waits where it needs the others'.
struct Team {
    std::size_t me = static_cast<std::size_t>(omp_get_thread_num());
    std::size_t all = static_cast<std::size_t>(omp_get_num_threads());

    template <class Body>
    void share(std::size_t n, const Body& body) const {  // body(begin, end)
        const std::size_t begin = n * me / all, end = n * (me + 1) / all;
        if (begin < end) body(begin, end);
    }
    static void wait() {
#pragma omp barrier
    }
};

// y = softmax(scale q . keys) values for one query; keys and values (n, d), scores room for n.
void attend(const float* q, const float* keys, const float* values, std::size_t n, std::size_t d, float scale,
            float* scores, float* y) {
    for (std::size_t j = 0; j < n; ++j) {
        scores[j] = scale * simd_sum(
                                d, [](auto a, auto b) { return a * b; }, q, keys + j * d);
    }
    const Vec<float> top(simd_max(n, scores));
    simd_map(
        n, scores, [=](auto v) { return xsimd::exp(v - top); }, scores);
    const Vec<float> inverse(1.0f / simd_sum(
                                        n, [](auto v) { return v; }, scores));
    constexpr std::size_t W = Vec<float>::size;
    for (std::size_t i = 0; i < d; i += W) {
        const std::size_t part = std::min(W, d - i);
        Vec<float> even(0.0f), odd(0.0f);
        std::size_t j = 0;
        for (; j + 2 <= n; j += 2) {
            even = xsimd::fma(Vec<float>(scores[j]), load_part<float>(values + j * d + i, part), even);
            odd = xsimd::fma(Vec<float>(scores[j + 1]), load_part<float>(values + (j + 1) * d + i, part), odd);
        }
        if (j < n) even = xsimd::fma(Vec<float>(scores[j]), load_part<float>(values + j * d + i, part), even);
        store_part<float>(y + i, (even + odd) * inverse, part);
    }
}

}  // namespace

// One token each of B texts, through all layers: what the threads share, (B, ...) row by row.
struct Decoder::Step {
    const DecoderWeights& w;
    std::span<KvCache* const> caches;
    std::size_t B = caches.size(), C = w.config.n_embd, q_width = w.config.query_width(),
                kv_width = w.config.kv_width(), qkv_width = q_width + 2 * kv_width, inner = w.config.inner();
    Floats x, qkv, attended, hidden, gates;

    Step(const DecoderWeights& weights, std::span<KvCache* const> texts)
        : w(weights),
          caches(texts),
          x(B * C),
          qkv(B * qkv_width),
          attended(B * q_width),
          hidden(B * inner),
          gates(w.config.gated ? B * inner : 0) {}

    // x += W in + bias
    void add(const Team& team, const Projection& p, const Floats& in, float* out) {
        team.share(C, [&](std::size_t begin, std::size_t end) {
            p.apply(begin, end, in.data(), B, out, C);
            for (std::size_t b = 0; b < B; ++b) {
                float* const row = x.data() + b * C;
                for (std::size_t i = begin; i < end; ++i) row[i] += out[b * C + i];
            }
        });
        Team::wait();
    }

    // Text b's key and value of one head go to its cache, and its queries that share this head look at all so far.
    void attend_head(std::size_t layer, std::size_t b, std::size_t kv_head, float* scores) {
        const Architecture& c = w.config;
        const std::size_t d = c.head_size(), group = c.n_head / c.kv_heads(), at = caches[b]->length();
        float* const q = qkv.data() + b * qkv_width + kv_head * group * d;
        float* const k = qkv.data() + b * qkv_width + q_width + kv_head * d;
        float *const keys = caches[b]->keys(layer, kv_head), *const values = caches[b]->values(layer, kv_head);
        w.rotate(k, at, w.layers[layer].key_gain);
        for (std::size_t g = 0; g < group; ++g) w.rotate(q + g * d, at, w.layers[layer].query_gain);
        std::copy_n(k, d, keys + at * d);
        std::copy_n(k + kv_width, d, values + at * d);
        float scale = 1.0f / std::sqrt(static_cast<float>(d));
        if (c.scale_by_layer) scale /= static_cast<float>(layer + 1);
        for (std::size_t g = 0; g < group; ++g) {
            float* const y = attended.data() + b * q_width + (kv_head * group + g) * d;
            attend(q + g * d, keys, values, at + 1, d, scale, scores, y);
            round_for(w.precision(), y, d);
        }
    }

    void run(const Team& team, std::span<float> logits) {
        std::size_t longest = 0;
        for (const KvCache* cache : caches) longest = std::max(longest, cache->length() + 1);
        Floats normed(B * C), ahead, out(B * C), scores(longest);  // a thread's own
        const auto normalize = [&](const Norm& norm) {
            w.normalize(norm, x.data(), B, normed.data());
            round_for(w.precision(), normed.data(), normed.size());
        };
        for (std::size_t l = 0; l < w.layers.size(); ++l) {
            const DecoderLayer& layer = w.layers[l];
            if (w.config.parallel_residual) normalize(layer.before_mlp), ahead = normed;
            normalize(layer.before_attention);
            std::size_t first = 0;
            for (const Projection& p : layer.qkv) {
                team.share(p.weight.rows(), [&](std::size_t begin, std::size_t end) {
                    p.apply(begin, end, normed.data(), B, qkv.data() + first, qkv_width);
                });
                first += p.weight.rows();
            }
            Team::wait();
            const std::size_t heads = w.config.kv_heads();
            team.share(B * heads, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) attend_head(l, i / heads, i % heads, scores.data());
            });
            Team::wait();
            add(team, layer.out, attended, out.data());
            w.config.parallel_residual ? normed.swap(ahead) : normalize(layer.before_mlp);
            team.share(inner, [&](std::size_t begin, std::size_t end) {
                layer.up.apply(begin, end, normed.data(), B, hidden.data(), inner);
                if (w.config.gated) layer.gate.apply(begin, end, normed.data(), B, gates.data(), inner);
                for (std::size_t b = 0; b < B; ++b) {
                    float* const up = hidden.data() + b * inner + begin;
                    if (w.config.gated) {
                        float* const gate = gates.data() + b * inner + begin;
                        w.activate(gate, end - begin);
                        simd_map(
                            end - begin, up, [](auto u, auto g) { return u * g; }, up, gate);
                    } else {
                        w.activate(up, end - begin);
                    }
                    round_for(w.precision(), up, end - begin);
                }
            });
            Team::wait();
            add(team, layer.down, hidden, out.data());
        }
        normalize(w.last);
        const std::size_t V = w.config.vocab_size;
        team.share(V, [&](std::size_t begin, std::size_t end) {
            w.head.apply(begin, end, normed.data(), B, logits.data(), V);
            for (std::size_t b = 0; b < B; ++b) w.cap(logits.data() + b * V + begin, end - begin);
        });
    }
};

Decoder Decoder::with_adapter(const Transformer<float>& model) const {
    Decoder other = *this;
    other.weights_.take_adapter(model);
    return other;
}

std::size_t Decoder::worthwhile_threads(std::size_t texts) const {
    return std::max<std::size_t>(1, weights_.bytes() * std::min<std::size_t>(texts, 8) / kBytesAThread);
}

void Decoder::check_room(const KvCache& cache, std::span<const std::int32_t> tokens) const {
    check(!tokens.empty() && cache.length() + tokens.size() <= config().block_size,
          "Decoder: 1 token to the context of {} is required, got {} after {}", config().block_size, tokens.size(),
          cache.length());
    for (const std::int32_t t : tokens) {
        check(t >= 0 && static_cast<std::size_t>(t) < config().vocab_size,
              "Decoder: tokens below the vocabulary of {} are required, got {}", config().vocab_size, t);
    }
}

void Decoder::embed(std::int32_t token, std::size_t position, float* x) const {
    const std::size_t C = config().n_embd;
    const auto row = static_cast<std::size_t>(token);
    weights_.tokens.unpack_rows(row, row + 1, x);
    if (config().embedding_norm) weights_.normalize({}, x, 1, x);
    if (weights_.positions.defined()) {
        simd_map(
            C, x, [](auto a, auto b) { return a + b; }, x, weights_.positions.data() + position * C);
    }
}

void Decoder::step(std::span<KvCache* const> caches, std::span<const std::int32_t> tokens,
                   std::span<float> logits) const {
    check(!caches.empty() && caches.size() == tokens.size() && logits.size() == caches.size() * config().vocab_size,
          "Decoder: a token and {} logits a text are required, got {} texts, {} tokens and {} logits",
          config().vocab_size, caches.size(), tokens.size(), logits.size());
    const StandardNumbers numbers;
    Step step(weights_, caches);
    for (std::size_t b = 0; b < caches.size(); ++b) {
        check_room(*caches[b], tokens.subspan(b, 1));
        caches[b]->reserve(caches[b]->length() + 1);
        embed(tokens[b], caches[b]->length(), step.x.data() + b * config().n_embd);
    }
    const std::size_t threads =
        std::min(worthwhile_threads(caches.size()), static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        FloatMode::standard().set();
        step.run(Team{}, logits);
    }
    for (KvCache* const cache : caches) cache->set_length(cache->length() + 1);
}

}  // namespace inkling::models
