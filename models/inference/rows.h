// The operations of models/decoder.h on rows: the next token of each of B texts, for a team of threads that go through
// the layers together. Each thread computes a part of a product's columns, and waits where it needs the others'.
//   RowBuffers buffers(model, precision, B);           // what the threads share
//   run_team(buffers, threads, [&](Rows& rows) { ... decoder::layer(rows, config, l, i, x) ... });
// An element's bits depend neither on the number of threads nor on the other texts.
#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>
#include <xsimd/xsimd.hpp>

#include "engine/base/float_mode.h"
#include "engine/fused/linear.h"
#include "engine/kernels/activation_row.h"
#include "engine/kernels/add_row.h"
#include "engine/kernels/norm_row.h"
#include "engine/kernels/simd.h"
#include "models/inference/cached_attention.h"
#include "models/transformer.h"

namespace inkling::models {

struct RowBuffers {
    // Vectors that lie across cache lines take half as long again to multiply with.
    using Floats = std::vector<float, xsimd::aligned_allocator<float, 64>>;

    // tokens[b] comes next in caches[b]. Without caches, only what stands behind the layers can be computed.
    RowBuffers(const Transformer<float>& m, Precision p, std::size_t texts, std::span<float> to,
               std::span<KvCache* const> held = {}, std::span<const std::int32_t> next = {})
        : model(m), precision(p), B(texts), caches(held), tokens(next), logits(to) {
        for (const KvCache* cache : caches) {
            head.stride = std::max(head.stride, whole_lines(cache->length() + 1));
            angles.push_back(model.rotary_tables(cache->length(), 1));
            if (cache->shifted.defined()) shifted.push_back(cache->shifted.clone());
        }
        scores.resize(B * config.n_head * head.stride);
        for (std::size_t i = 0; i < kParameterNames; ++i)
            if (const Weight<float>& map = model.layers[0].all[i].weight; map.defined() && map.shape().size() == 2)
                products[i].resize(B * map.dim(0));
        const auto count = [&](const auto& weights) {
            for (const auto& w : weights.all)
                if (w.lora_a.defined()) low_rank_room = std::max(low_rank_room, w.lora_a.dim(0) + w.weight.dim(0));
        };
        count(model.outer);
        for (const auto& layer : model.layers) count(layer);
    }

    const Transformer<float>& model;
    const Architecture& config = model.config;
    const Precision precision;
    const std::size_t B, C = config.n_embd, q_width = config.query_width();
    const std::span<KvCache* const> caches;
    const std::span<const std::int32_t> tokens;
    const std::span<float> logits;                                             // (B, V)
    HeadShape head{config.n_head / config.kv_heads(), config.head_size(), 0};  // those that share a head of keys
    std::vector<RotaryTables<float>> angles;                                   // of each text's position
    std::vector<Array<float>> shifted;                                         // of the caches, after this step
    Floats x = Floats(B * C), attended = Floats(B * q_width), scores;          // (B, ...); scores (B, heads, stride)
    std::array<Floats, kParameterNames> products;                              // of a layer's linear maps: (B, out)
    std::size_t low_rank_room = 0;                                             // of the largest adapter, a text
};

class Rows {
  public:
    enum class Held {
        shared,   // complete, for all threads to read
        columns,  // each thread has computed its columns: share(width)
        own,      // complete, in memory of this thread
    };
    struct Value {
        float* data = nullptr;
        std::size_t width = 0, stride = 0;  // of a text's row, and to the next text's
        Held held = Held::shared;
    };
    using LayerWeights = Weights<float>;
    using Layer = Transformer<float>::Layer;

    // Takes all memory that the operations need, so that they neither allocate nor throw.
    explicit Rows(RowBuffers& buffers)
        : all_(buffers), attention_room_({buffers.head.room()}), low_rank_room_({B_ * buffers.low_rank_room}) {
        for (Array<float>& own : own_) own = Array<float>({B_ * buffers.C});
    }
    void join_team() {  // of this parallel region; before, the thread is alone
        thread_ = static_cast<std::size_t>(omp_get_thread_num());
        threads_ = static_cast<std::size_t>(omp_get_num_threads());
    }

    Value embed(const Weight<float>& table) {
        for (std::size_t b = 0; b < B_; ++b) {
            const auto row = static_cast<std::size_t>(all_.tokens[b]);
            float* const x = all_.x.data() + b * all_.C;
            if (table.packed()) {
                table.packed()->unpack_rows(row, row + 1, x);
            } else {
                std::copy_n(table.value().data() + row * all_.C, all_.C, x);
            }
        }
        return {all_.x.data(), all_.C, all_.C};
    }

    Value add_positions(const Value& x, const Tensor<float>& table) {
        for (std::size_t b = 0; b < B_; ++b)
            add_row(x.width, x.data + b * x.stride, table.value().data() + all_.caches[b]->length() * x.width);
        return x;
    }

    Value norm(NormKind kind, const LayerWeights& weights, const Value& x) {
        if (x.held == Held::columns) wait();  // the mean needs the whole row
        const std::size_t C = x.width;
        float* const y = own_[next_own_].data();
        next_own_ = (next_own_ + 1) % own_.size();
        for (std::size_t b = 0; b < B_; ++b) norm_row(kind, C, weights, x.data + b * x.stride, y + b * C);
        return {y, C, C, Held::own};
    }

    Value token_shift(const Tensor<float>& share, std::size_t cache_row, const Value& x) {
        for (std::size_t b = 0; b < B_; ++b) {
            float* const row = x.data + b * x.stride;
            if (thread_ == 0)
                std::copy_n(row, x.width, all_.shifted[b].data() + cache_row * x.width);  // for the next token
            add_product_row(x.width, row, all_.caches[b]->shifted.data() + cache_row * x.width, share.value().data());
        }
        return x;
    }

    Value matmul_input(Value x) {
        each_part(x, [&](std::size_t n, float* row, std::size_t) { round_for(all_.precision, row, n); });
        if (x.held == Held::own) return x;
        wait();
        x.held = Held::shared;
        return x;
    }

    // y = W x + bias + s B A x, for this thread's rows of W and B; each thread computes A x, which is small.
    Value project(ParameterName name, const LayerWeights& map, const Value& x) {
        const std::size_t out = map.weight.dim(0);
        const bool last = name == ParameterName::head;
        float* const place = last ? all_.logits.data() : all_.products[static_cast<std::size_t>(name)].data();
        const Value y{place, out, out, Held::columns};
        share(out, [&](std::size_t begin, std::size_t end) {
            linear_by_row(map.weight, map.bias, begin, end, x.data, B_, y.data, y.stride);
            if (!map.lora_a.defined()) return;
            const std::size_t r = map.lora_a.dim(0);
            float *const h = low_rank_room_.data(), *const added = h + B_ * r;
            inkling::multiply(map.lora_a.value(), 0, r, x.data, B_, h, r);
            const auto scale = static_cast<float>(all_.model.adapter.scale(map));
            for (std::size_t i = 0; i < B_ * r; ++i) h[i] *= scale;
            inkling::multiply(map.lora_b.value(), begin, end, h, B_, added, out);
            for (std::size_t b = 0; b < B_; ++b)
                add_row(end - begin, y.data + b * y.stride + begin, added + b * out + begin);
        });
        return y;
    }

    std::array<Value, 3> split_qkv(const Value& qkv) const {
        const std::size_t n = qkv.width / 3;
        const auto third = [&](std::size_t i) { return Value{qkv.data + i * n, n, qkv.stride, Held::columns}; };
        return {third(0), third(1), third(2)};
    }

    Value attend(const Layer& l, std::size_t layer, const Value& q, const Value& k, const Value& v, double scale,
                 std::size_t window);  // a matmul_input()

    Value activate(Activation activation, const Value& x);
    Value multiply(const Value& x, const Value& y) {
        return map(
            x, [](auto a, auto b) { return a * b; }, y);
    }
    Value scale(const Value& x, double factor) {
        return map(x, [s = Vec<float>(static_cast<float>(factor))](auto v) { return v * s; });
    }
    Value softcap(const Value& x, double cap) {
        const auto c = static_cast<float>(cap), inverse = static_cast<float>(1 / cap);
        return map(x, [=](auto v) { return activation_row::softcap(v, c, inverse); });
    }
    Value add(const Value& x, const Value& y) {
        map(
            x, [](auto a, auto b) { return a + b; }, y);
        wait();
        return x;
    }
    Value drop(const Value& x) const { return x; }
    Value observe(const char*, std::size_t, const Value& x) const { return x; }

  private:
    template <class Body>
    void share(std::size_t n, const Body& body) const {  // body(begin, end): this thread's part of n
        const std::size_t begin = n * thread_ / threads_, end = n * (thread_ + 1) / threads_;
        if (begin < end) body(begin, end);
    }
    // Calls body(n, row, text) for each text: with this thread's columns of the row, or with all of a row that it owns.
    template <class Body>
    Value each_part(const Value& x, const Body& body) const {
        const auto rows = [&](std::size_t begin, std::size_t end) {
            for (std::size_t b = 0; b < B_; ++b) body(end - begin, x.data + b * x.stride + begin, b);
        };
        x.held == Held::own ? rows(0, x.width) : share(x.width, rows);
        return x;
    }
    template <class F, class... Others>
    Value map(const Value& x, const F& f, const Others&... others) const {
        return each_part(x, [&](std::size_t n, float* row, std::size_t b) {
            simd_map(n, row, {row, others.data + b * others.stride + (row - x.data - b * x.stride)...}, f);
        });
    }
    template <class Units, class Body>
    void share_heads(const Units& units, const Body& body) const;
    void norm_row(NormKind kind, std::size_t n, const LayerWeights& w, const float* x, float* y) const {
        const auto epsilon = static_cast<float>(config_.norm_epsilon);
        normalize_row(n, x, row_moments(n, x, kind == NormKind::layer, epsilon), w.weight.value().data(),
                      w.bias.value().data(), y);
    }
    static void wait(){
#pragma omp barrier
    }

    RowBuffers& all_;
    const Architecture& config_ = all_.config;
    const std::size_t B_ = all_.B;
    std::size_t thread_ = 0, threads_ = 1;
    std::array<Array<float>, 3> own_;  // a value of this thread's own lives until three more are made
    std::size_t next_own_ = 0;
    Array<float> attention_room_, low_rank_room_;
};

// Runs body(rows) on each thread of a team.
template <class Body>
void run_team(RowBuffers& buffers, std::size_t threads, const Body& body) {
    std::vector<Rows> team;
    for (std::size_t t = 0; t < threads; ++t) team.emplace_back(buffers);
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        FloatMode::standard().set();
        Rows& rows = team[static_cast<std::size_t>(omp_get_thread_num())];
        rows.join_team();
        body(rows);
    }
}

}  // namespace inkling::models
