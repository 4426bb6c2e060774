// Small models, and their logits for texts.
#pragma once

#include "models/inference/inference_model.h"
#include "tests/models/architectures.h"

namespace inkling::testing {

using Tokens = std::vector<std::int32_t>;
using Logits = std::vector<float>;

inline Architecture gpt2(bool bias, std::size_t width = 48) { return gpt2_shape(37, 3, 3, width, 24, 0.0, bias); }

inline Architecture nanochat(std::size_t kv_heads, bool bias = false) {
    Architecture a = nanochat_shape(37, 3, 4, kv_heads, 48, 24, 0.0, bias);
    a.n_inner = 80;
    return a;
}

inline Architecture shifting() { return shape_of("inkling", 37, 3, 4, 48, 24, 0.0, false); }

inline Architecture llama(std::size_t kv_heads, bool tied = false, std::size_t head_dim = 0, bool bias = false) {
    Architecture a = llama_shape(37, 3, 4, kv_heads, 48, 24, 0.0, bias);
    a.n_inner = 80, a.rope_theta = 500, a.tied_head = tied, a.head_dim = head_dim;
    return a;
}

// Layers with an attention window and their own rotary base, except every second.
inline Architecture gemma3(std::size_t window, std::size_t kv_heads) {
    Architecture a = shape_of("gemma3", 37, 3, 4, 48, 24, 0.0, false);
    a.n_kv_head = kv_heads, a.head_dim = 20, a.n_inner = 80, a.score_width = 7;
    a.window = window, a.global_every = 2, a.rope_theta = 50, a.local_rope_theta = 20;
    return a;
}

inline Architecture mistral(std::size_t window) {
    Architecture a = llama(2);
    a.window = window;
    return a;
}

inline std::unique_ptr<Transformer<float>> made(const Architecture& config) {
    auto model = std::make_unique<Transformer<float>>(config);
    Generator random{11, 0};
    for (const ParameterSpec& p : parameters(config))
        nn::fill(model->at(p).tensor(), nn::Initial::normal(p.shape.size() == 2 ? 0.15 : 0.5), random);
    return model;  // without dropout, training is as evaluation
}

inline Tokens some_tokens(std::size_t n, std::uint64_t seed = 1) {
    const IdArray ids = random_ids({n}, 37, seed);
    return {ids.data(), ids.data() + n};
}

inline Logits step(const InferenceModel& inference, KvCache& cache, std::int32_t token) {
    Logits logits(37);
    inference.step(std::array{&cache}, std::span(&token, 1), logits);
    return logits;
}

inline Logits prefill(const InferenceModel& inference, KvCache& cache, std::span<const std::int32_t> tokens) {
    Logits logits(37);
    inference.prefill(cache, tokens, logits);
    return logits;
}

inline double worst(const Logits& a, const float* b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(static_cast<double>(a[i] - b[i])));
    return most;
}

}  // namespace inkling::testing
