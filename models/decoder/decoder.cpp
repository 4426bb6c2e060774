#include "models/decoder/decoder.h"

#include <omp.h>

#include <cmath>

#include "engine/base/float_mode.h"
#include "engine/base/parallel.h"
#include "engine/kernels/simd.h"
#include "models/decoder/decoder_attention.h"

namespace inkling::models {
namespace {

// Of weights, keys and values that are worth a thread of their own. Less is quicker with two threads than with one only
// while no other program wants the second processor; else each of a step's waits, 6 a layer, may take a turn of that
// program's.
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

}  // namespace

// One token each of B texts, through all layers: what the threads share, (B, ...) row by row.
struct Decoder::Step {
    const DecoderWeights& w;
    std::span<KvCache* const> caches;
    std::size_t B = caches.size(), C = w.config.n_embd, q_width = w.config.query_width(),
                kv_width = w.config.kv_width(), qkv_width = q_width + 2 * kv_width, inner = w.config.inner();
    HeadShape head{w.config.n_head / w.config.kv_heads(), w.config.head_size(), 0};  // those that share a head of keys
    Floats x, qkv, scores, attended, hidden, gates;                                  // scores (B, heads, stride)

    Step(const DecoderWeights& weights, std::span<KvCache* const> texts)
        : w(weights),
          caches(texts),
          x(B * C),
          qkv(B * qkv_width),
          attended(B * q_width),
          hidden(B * inner),
          gates(w.config.gated ? B * inner : 0) {
        for (const KvCache* cache : caches) head.stride = std::max(head.stride, whole_lines(cache->length() + 1));
        scores.resize(B * w.config.n_head * head.stride);
    }

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

    // Of texts and their heads of keys, one after the other, each of so many units, this thread's part:
    // body(text, head, begin, end).
    template <class Units, class Body>
    void share_heads(const Team& team, const Units& units, const Body& body) const {
        const std::size_t heads = w.config.kv_heads();
        std::size_t all = 0;
        for (std::size_t b = 0; b < B; ++b) all += heads * units(b);
        team.share(all, [&](std::size_t begin, std::size_t end) {
            std::size_t first = 0;
            for (std::size_t i = 0; i < B * heads && first < end; ++i) {
                const std::size_t b = i / heads, last = first + units(b);
                if (last > begin) body(b, i % heads, std::max(begin, first) - first, std::min(end, last) - first);
                first = last;
            }
        });
    }

    // The text's key and value of one head go to its cache, and its queries that share the head look at all so far.
    // Threads share the positions, then the columns of the values.
    void attend(const Team& team, std::size_t layer, float* room) {
        const Architecture& c = w.config;
        const std::size_t d = head.size;
        float scale = 1.0f / std::sqrt(static_cast<float>(d));
        if (c.scale_by_layer) scale /= static_cast<float>(layer + 1);
        const auto length = [&](std::size_t b) { return caches[b]->length() + 1; };
        const auto scores_of = [&](std::size_t b, std::size_t kv_head) {
            return scores.data() + (b * c.n_head + kv_head * head.queries) * head.stride;
        };
        share_heads(team, length, [&](std::size_t b, std::size_t kv_head, std::size_t begin, std::size_t end) {
            const std::size_t at = length(b) - 1;
            const float* const row = qkv.data() + b * qkv_width;
            float* const keys = caches[b]->keys(layer, kv_head);
            std::copy_n(row + kv_head * head.queries * d, head.queries * d, room);
            for (std::size_t g = 0; g < head.queries; ++g) w.rotate(room + g * d, at, w.layers[layer].query_gain);
            if (end > at) {
                std::copy_n(row + q_width + kv_head * d, d, keys + at * d);
                w.rotate(keys + at * d, at, w.layers[layer].key_gain);
                std::copy_n(row + q_width + kv_width + kv_head * d, d, caches[b]->values(layer, kv_head) + at * d);
            }
            attention_scores(head, room, keys, begin, end, scale, scores_of(b, kv_head));
        });
        Team::wait();
        const auto work = [&](std::size_t b) { return whole_lines(d) / kColumns * length(b); };
        share_heads(team, work, [&](std::size_t b, std::size_t kv_head, std::size_t begin, std::size_t end) {
            const std::size_t n = length(b);
            const auto column = [&](std::size_t unit) { return std::min(d, (unit + n - 1) / n * kColumns); };
            begin = column(begin), end = column(end);
            if (begin == end) return;
            float* const y = attended.data() + b * q_width + kv_head * head.queries * d;
            attention_values(head, scores_of(b, kv_head), n, caches[b]->values(layer, kv_head), begin, end, room, y);
            for (std::size_t g = 0; g < head.queries; ++g) round_for(w.precision(), y + g * d + begin, end - begin);
        });
        Team::wait();
    }

    void run(const Team& team, std::span<float> logits) {
        Floats normed(B * C), ahead, out(B * C), room(head.room());  // a thread's own
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
            attend(team, l, room.data());
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

std::size_t Decoder::worthwhile_threads(std::size_t texts, std::size_t tokens) const {
    const std::size_t cached = tokens * config().n_layer * 2 * config().kv_width() * sizeof(float);
    return std::max<std::size_t>(1, (weights_.bytes() * std::min<std::size_t>(texts, 8) + cached) / kBytesAThread);
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
    std::size_t before = 0;
    for (const KvCache* const cache : caches) before += cache->length();
    const std::size_t threads =
        std::min(worthwhile_threads(caches.size(), before), static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        FloatMode::standard().set();
        step.run(Team{}, logits);
    }
    for (KvCache* const cache : caches) cache->set_length(cache->length() + 1);
}

}  // namespace inkling::models
