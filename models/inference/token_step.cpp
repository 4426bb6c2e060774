// InferenceModel::step: one token each of several texts, by the thread, as Transformer::hidden computes many tokens of
// one text. What either computes, both do, with the row kernels of engine/kernels.
#include <omp.h>

#include <set>

#include "engine/base/float_mode.h"
#include "engine/kernels/add_row.h"
#include "models/activation.h"
#include "models/inference/cached_attention.h"
#include "models/inference/inference_model.h"

namespace inkling::models {
namespace {

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

void multiply_row(std::size_t n, float* x, const float* y) {
    simd_map(
        n, x, [](auto a, auto b) { return a * b; }, x, y);
}

}  // namespace

// One token of each of B texts through all layers; holds the threads' shared rows, (B, ...).
struct InferenceModel::Step {
    const InferenceModel& m;
    std::span<KvCache* const> caches;
    const Architecture& config = m.config();
    std::size_t B = caches.size(), C = config.n_embd, q_width = config.query_width(), kv_width = config.kv_width(),
                qkv_width = q_width + 2 * kv_width, inner = config.inner();
    HeadShape head{config.n_head / config.kv_heads(), config.head_size(), 0};  // those that share a head of keys
    std::vector<RotaryTables<float>> angles;                                   // of each text's position
    Floats x, qkv, scores, attended, hidden, up, projected;                    // scores (B, heads, stride)
    std::vector<Array<float>> shifted;                                         // of the caches, after this step

    // The rows that each thread has for itself, made in front of the parallel region, which an exception must not
    // leave.
    struct Own {
        Array<float> normed, ahead, out, attention, low_rank;
        explicit Own(const Step& s)
            : normed({s.B * s.C}),
              ahead({s.B * s.C}),
              out({s.B * s.C}),
              attention({s.head.room()}),
              low_rank({s.B * s.m.low_rank_room()}) {}
    };

    Step(const InferenceModel& model, std::span<KvCache* const> texts)
        : m(model),
          caches(texts),
          x(B * C),
          qkv(B * qkv_width),
          attended(B * q_width),
          hidden(B * inner),
          up(config.gated ? B * inner : 0),
          projected(config.part_norms ? B * C : 0),
          shifted(B) {
        for (const KvCache* cache : caches) {
            head.stride = std::max(head.stride, whole_lines(cache->length() + 1));
            angles.emplace_back(config, cache->length(), 1);
        }
        for (std::size_t b = 0; config.token_shift && b < B; ++b) shifted[b] = caches[b]->shifted.clone();
        scores.resize(B * config.n_head * head.stride);
    }

    // Rows (B, C) get a share of the token before's, and are kept for the next token by one thread.
    void shift(const Team& team, const Tensor<float>& share, std::size_t place, float* rows) {
        for (std::size_t b = 0; share.defined() && b < B; ++b, rows += C) {
            const float* const before = caches[b]->shifted.data() + place * C;
            if (team.me == 0) std::copy_n(rows, C, shifted[b].data() + place * C);
            add_product_row(C, rows, before, share.value().data());
        }
    }

    // x += W in + bias, normed before where part_norms. `out` and `low_rank`: the thread's own.
    void add(const Team& team, const Weights<Tensor<float>>& map, const Weights<Tensor<float>>& norm, const Floats& in,
             float* out, float* low_rank) {
        float* const y = config.part_norms ? projected.data() : out;
        const auto share = [&](const auto& prepare) {
            team.share(C, [&](std::size_t begin, std::size_t end) {
                prepare(begin, end);
                for (std::size_t b = 0; b < B; ++b) add_row(end - begin, x.data() + b * C + begin, out + b * C + begin);
            });
            Team::wait();
        };
        const auto project = [&](std::size_t begin, std::size_t end) {
            m.project(map, begin, end, in.data(), B, y, C, low_rank);
        };
        if (!config.part_norms) return share(project);
        team.share(C, project);
        Team::wait();
        share([&](std::size_t, std::size_t) { m.norm(norm, y, B, out); });  // all of it: a row's mean is of all
    }

    // Shares the units of all texts' key heads, in order, between the threads; calls for this thread's part
    // body(text, head, begin, end).
    template <class Units, class Body>
    void share_heads(const Team& team, const Units& units, const Body& body) const {
        const std::size_t heads = config.kv_heads();
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
        const auto& l = m.model_.layers[layer];
        const std::size_t d = head.size, window = config.window_of(layer);
        const auto scale = static_cast<float>(config.attention_scale(layer));
        // A text's token sees the last `length` positions, from `first` on.
        const auto first = [&](std::size_t b) {
            const std::size_t n = caches[b]->length() + 1;
            return window > 0 && n > window ? n - window : 0;
        };
        const auto length = [&](std::size_t b) { return caches[b]->length() + 1 - first(b); };
        const auto scores_of = [&](std::size_t b, std::size_t kv_head) {
            return scores.data() + (b * config.n_head + kv_head * head.queries) * head.stride;
        };
        share_heads(team, length, [&](std::size_t b, std::size_t kv_head, std::size_t begin, std::size_t end) {
            const std::size_t at = caches[b]->length();
            const float* const row = qkv.data() + b * qkv_width;
            const ConstArray<float>& turn = angles[b].of(config, layer);
            std::copy_n(row + kv_head * head.queries * d, head.queries * d, room);
            for (std::size_t g = 0; g < head.queries; ++g)
                m.rotate_head(room + g * d, turn, l[Part::query_norm].weight);
            if (end == length(b)) {
                float* const key = caches[b]->key(layer, kv_head, at);
                std::copy_n(row + q_width + kv_head * d, d, key);
                m.rotate_head(key, turn, l[Part::key_norm].weight);
                std::copy_n(row + q_width + kv_width + kv_head * d, d, caches[b]->value(layer, kv_head, at));
            }
            attention_scores(head, room, caches[b]->key(layer, kv_head, first(b)), begin, end, scale,
                             scores_of(b, kv_head));
        });
        Team::wait();
        const auto work = [&](std::size_t b) { return whole_lines(d) / kColumns * length(b); };
        share_heads(team, work, [&](std::size_t b, std::size_t kv_head, std::size_t begin, std::size_t end) {
            const std::size_t n = length(b);
            const auto column = [&](std::size_t unit) { return std::min(d, (unit + n - 1) / n * kColumns); };
            begin = column(begin), end = column(end);
            if (begin == end) return;
            float* const y = attended.data() + b * q_width + kv_head * head.queries * d;
            attention_values(head, scores_of(b, kv_head), n, caches[b]->value(layer, kv_head, first(b)), begin, end,
                             room, y);
            for (std::size_t g = 0; g < head.queries; ++g) round_for(m.precision(), y + g * d + begin, end - begin);
        });
        Team::wait();
    }

    void run(const Team& team, Own& own, std::span<float> logits) noexcept {
        float *normed = own.normed.data(), *ahead = own.ahead.data();
        float *const out = own.out.data(), *const low_rank = own.low_rank.data();
        const auto normalize = [&](const Weights<Tensor<float>>& norm, const Tensor<float>& share, std::size_t place) {
            m.norm(norm, x.data(), B, normed);
            shift(team, share, place, normed);
            round_for(m.precision(), normed, B * C);
        };
        std::size_t place = 0;
        for (const auto& l : m.model_.layers) {
            const auto before_attention = [&] {
                normalize(l[Part::attention_norm], l[Part::attention_shift].weight, place + 1);
            };
            const auto before_mlp = [&] { normalize(l[Part::mlp_norm], l[Part::mlp_shift].weight, place + 2); };
            if (config.parallel_residual) before_mlp(), std::swap(normed, ahead);
            before_attention();
            std::size_t first = 0;
            for (const Part part : {Part::query_key_value, Part::query, Part::key, Part::value}) {
                if (!l[part].weight.defined()) continue;
                const std::size_t rows = l[part].weight.dim(0);
                team.share(rows, [&](std::size_t begin, std::size_t end) {
                    m.project(l[part], begin, end, normed, B, qkv.data() + first, qkv_width, low_rank);
                });
                first += rows;
            }
            Team::wait();
            attend(team, static_cast<std::size_t>(&l - m.model_.layers.data()), own.attention.data());
            add(team, l[Part::attention_output], l[Part::attention_output_norm], attended, out, low_rank);
            config.parallel_residual ? std::swap(normed, ahead) : before_mlp();
            team.share(inner, [&](std::size_t begin, std::size_t end) {
                const auto& in = l[config.gated ? Part::gate : Part::up];
                m.project(in, begin, end, normed, B, hidden.data(), inner, low_rank);
                if (config.gated) m.project(l[Part::up], begin, end, normed, B, up.data(), inner, low_rank);
                for (std::size_t b = 0; b < B; ++b) {
                    float* const h = hidden.data() + b * inner + begin;
                    activate(config.activation, end - begin, h);
                    if (config.gated) multiply_row(end - begin, h, up.data() + b * inner + begin);
                    round_for(m.precision(), h, end - begin);
                }
            });
            Team::wait();
            add(team, l[Part::down], l[Part::mlp_output_norm], hidden, out, low_rank);
            place += 2;
        }
        normalize(m.model_.parts[Part::final_norm], {}, 0);
        team.share(config.vocab_size,
                   [&](std::size_t begin, std::size_t end) { m.head(begin, end, normed, B, logits.data(), low_rank); });
    }
};

void InferenceModel::step(std::span<KvCache* const> caches, std::span<const std::int32_t> tokens,
                          std::span<float> logits) const {
    check(!caches.empty() && caches.size() == tokens.size() && logits.size() == caches.size() * config().vocab_size,
          "InferenceModel: a token and {} logits a text are required, got {} texts, {} tokens and {} logits",
          config().vocab_size, caches.size(), tokens.size(), logits.size());
    check(std::set(caches.begin(), caches.end()).size() == caches.size(),
          "InferenceModel: a cache is for one text of a step, got one twice: copy it for another text");
    const StandardNumbers numbers;
    Step step(*this, caches);
    for (std::size_t b = 0; b < caches.size(); ++b) {
        check_room(*caches[b], tokens.subspan(b, 1));
        caches[b]->reserve(caches[b]->length() + 1);
        embed(tokens[b], caches[b]->length(), step.x.data() + b * config().n_embd);
    }
    step.shift(Team{}, model_.parts[Part::token_shift].weight, 0, step.x.data());
    std::size_t before = 0;
    for (const KvCache* const cache : caches) before += cache->length();
    const std::size_t threads =
        std::min(worthwhile_threads(caches.size(), before), static_cast<std::size_t>(omp_get_max_threads()));
    std::vector<Step::Own> own;
    for (std::size_t t = 0; t < threads; ++t) own.emplace_back(step);
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        FloatMode::standard().set();
        const Team team;
        step.run(team, own[team.me], logits);
    }
    for (std::size_t b = 0; b < caches.size(); ++b) {
        caches[b]->next_shifted = std::move(step.shifted[b]);
        caches[b]->advance(1);
    }
}

}  // namespace inkling::models
