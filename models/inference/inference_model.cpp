#include "models/inference/inference_model.h"

#include <set>

#include "engine/base/float_mode.h"
#include "engine/base/interrupt.h"
#include "engine/base/parallel.h"
#include "engine/ops.h"
#include "models/decoder.h"
#include "models/inference/rows.h"

namespace inkling::models {
namespace {

// Bytes of weights, keys and values that are worth a thread of their own. With less, two threads are
// faster than one only on an idle machine: otherwise each of the 6 barriers per layer may lose a time slice to another
// program.
constexpr std::size_t kBytesAThread = std::size_t{4} << 20;
constexpr std::size_t kLogitRows = 64;  // tokens of a prompt whose logits are in memory at a time

}  // namespace

InferenceModel::InferenceModel(const Transformer<float>& transformer, WeightType type)
    : model_(transformer.config, std::nullopt), type_(type) {
    model_.share(transformer);
    model_.freeze({type, true});
    model_.config.dropout = model_.adapter.dropout = 0;              // eval() would need names for all parameters
    Weight<float>& head = model_.outer[ParameterName::head].weight;  // a tied one may be of another type than the table
    head = model_.head().weight.as(type);
    bytes_ = head.bytes();
    for (const ParameterSpec& p : parameters(config()))
        if (adds_one(config(), p)) model_.at(p) = affine(model_.at(p).tensor(), 1, 1);
    model_.config.norm_gain_plus_one = false;
    for (const ParameterSpec& p : parameters(config())) {
        if (!in_layer(p.name) || !may_be_packed(p)) continue;
        const Weight<float>& weight = model_.at(p);
        bytes_ += weight.bytes();
        if (weight.packed() && weight.packed()->blocks()) cache_type = CacheType::f16;
    }
}

InferenceModel InferenceModel::with_adapter(const Transformer<float>& transformer) const {
    InferenceModel other(model_, type_);
    other.cache_type = cache_type;
    other.model_.share_adapters(transformer);
    other.model_.adapter.dropout = 0;
    return other;
}

std::size_t InferenceModel::worthwhile_threads(std::size_t texts, std::size_t tokens) const {
    const std::size_t cached = tokens * config().n_layer * 2 * config().kv_width() * sizeof(float);
    return std::max<std::size_t>(1, (bytes_ * std::min<std::size_t>(texts, 8) + cached) / kBytesAThread);
}

void InferenceModel::check_room(const KvCache& cache, std::span<const std::int32_t> tokens) const {
    check(!tokens.empty() && cache.length() + tokens.size() <= config().block_size,
          "InferenceModel: expected 1 to {} tokens, got {} after {}", config().block_size, tokens.size(),
          cache.length());
    for (const std::int32_t t : tokens) {
        check(t >= 0 && static_cast<std::size_t>(t) < config().vocab_size,
              "InferenceModel: expected tokens below the vocabulary of {}, got {}", config().vocab_size, t);
    }
}

void InferenceModel::prefill(KvCache& cache, std::span<const std::int32_t> tokens, std::span<float> logits,
                             const EachLogits& each) const {
    check_room(cache, tokens);
    const std::size_t n = tokens.size(), C = config().n_embd, V = config().vocab_size;
    check(logits.size() == V, "InferenceModel: expected {} logits, got {}", V, logits.size());
    const NoGrad no_grad;
    const StandardNumbers numbers;
    const WithPrecision scope(precision());
    const RoundsActivations rounds;
    IdArray ids({1, n});
    std::copy(tokens.begin(), tokens.end(), ids.data());
    const Tensor<float> x = model_.hidden(ids, {.cache = &cache});  // (1, n, C)
    for (std::size_t begin = 0; each && begin < n; begin += kLogitRows) {
        Interruptible::check();
        const std::size_t end = std::min(n, begin + kLogitRows);
        const Tensor<float> z = model_.logits(slice(x, 1, begin, end));
        parallel_for(end - begin, 1, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i)
                each(begin + i, std::span<const float>(z.value().data() + i * V, V));
        });
    }
    RowBuffers last(model_, precision(), 1, logits);
    std::copy_n(x.value().data() + (n - 1) * C, C, last.x.data());
    run_team(last, max_threads(), [&](Rows& rows) {
        decoder::logits(rows, config(), model_.outer[ParameterName::head],
                        rows.matmul_input({last.x.data(), C, C, Rows::Held::columns}));
    });
    cache.advance(n);
}

void InferenceModel::step(std::span<KvCache* const> caches, std::span<const std::int32_t> tokens,
                          std::span<float> logits) const {
    check(!caches.empty() && caches.size() == tokens.size() && logits.size() == caches.size() * config().vocab_size,
          "InferenceModel: expected a token and {} logits a text, got {} texts, {} tokens and {} logits",
          config().vocab_size, caches.size(), tokens.size(), logits.size());
    check(std::set(caches.begin(), caches.end()).size() == caches.size(),
          "InferenceModel: a cache is for one text of a step, got one twice: copy it for another text");
    const StandardNumbers numbers;
    const std::size_t B = caches.size(), C = config().n_embd;
    std::size_t before = 0;
    for (std::size_t b = 0; b < B; ++b) {
        check_room(*caches[b], tokens.subspan(b, 1));
        before += caches[b]->length();
    }
    for (KvCache* const cache : caches) cache->reserve(cache->length() + 1);
    RowBuffers buffers(model_, precision(), B, logits, caches, tokens);
    Rows alone(buffers);
    const Rows::Value first = decoder::embed(alone, model_), x{buffers.x.data(), C, C};
    if (first.data != x.data) std::copy_n(first.data, B * C, x.data);
    run_team(buffers, std::min(worthwhile_threads(B, before), max_threads()), [&](Rows& rows) {
        for (std::size_t i = 0; i < model_.layers.size(); ++i) decoder::layer(rows, config(), model_.layers[i], i, x);
        const Rows::Value last = decoder::norm(rows, config(), model_.outer[ParameterName::final_norm], x);
        decoder::logits(rows, config(), model_.outer[ParameterName::head], rows.matmul_input(last));
    });
    for (std::size_t b = 0; b < B; ++b) {
        if (!buffers.shifted.empty()) caches[b]->next_shifted = std::move(buffers.shifted[b]);
        caches[b]->advance(1);
    }
}

}  // namespace inkling::models
