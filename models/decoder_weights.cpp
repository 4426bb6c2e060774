#include "models/decoder_weights.h"

#include <cmath>
#include <numbers>

#include "engine/ops/rotary.h"
#include "engine/simd.h"
#include "models/gpt.h"
#include "models/nanochat.h"

namespace inkling::models {
namespace {

Projection pack(const nn::Linear<float>& linear, WeightType type) {
    return {PackedMatrix(linear.weight.value(), type), linear.bias.value()};
}

Norm norm_of(const nn::LayerNorm<float>& norm) { return {norm.weight.value(), norm.bias.value()}; }

void read_gpt2(const GPT<float>& model, DecoderWeights& w) {
    w.tokens = model.wte.weight.value();
    w.positions = model.wpe.weight.value();
    for (const auto& b : model.blocks) {
        w.layers.push_back({norm_of(b->ln_1),
                            norm_of(b->ln_2),
                            {pack(*b->attn.c_attn, w.type)},
                            pack(b->attn.out_proj, w.type),
                            pack(b->mlp.c_fc, w.type),
                            pack(b->mlp.c_proj, w.type)});
    }
    w.last = norm_of(model.ln_f);
    w.head = {PackedMatrix(w.tokens, w.type), {}};
}

void read_nanochat(const NanoChat<float>& model, DecoderWeights& w) {
    w.tokens = model.embed_tokens.weight.value();
    w.angles = rotary_angles<float>(0, model.config.block_size, model.config.head_size(), model.config.rope_theta);
    for (const auto& b : model.layers) {
        const auto& a = b->self_attn;
        w.layers.push_back({{},
                            {},
                            {pack(a.q_proj, w.type), pack(a.k_proj, w.type), pack(a.v_proj, w.type)},
                            pack(a.o_proj, w.type),
                            pack(b->mlp.fc1, w.type),
                            pack(b->mlp.fc2, w.type)});
    }
    w.head = pack(model.lm_head, w.type);
}

}  // namespace

void Projection::apply(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                       std::size_t y_stride) const {
    weight.multiply(begin, end, x, batch, y, y_stride);
    if (!bias.defined()) return;
    for (std::size_t b = 0; b < batch; ++b) {
        float* const row = y + b * y_stride + begin;
        simd_map(
            end - begin, row, [](auto v, auto shift) { return v + shift; }, row, bias.data() + begin);
    }
}

DecoderWeights::DecoderWeights(const LanguageModel<float>& model, WeightType weight_type)
    : config(model.config), type(weight_type), kv_width(config.kv_heads() * config.head_size()) {
    if (config.arch == Arch::nanochat) {
        read_nanochat(dynamic_cast<const NanoChat<float>&>(model), *this);
    } else {
        read_gpt2(dynamic_cast<const GPT<float>&>(model), *this);
    }
}

void DecoderWeights::normalize(const Norm& norm, const float* x, std::size_t n, float* y) const {
    const std::size_t C = config.n_embd;
    const float inverse = 1.0f / static_cast<float>(C);
    for (std::size_t r = 0; r < n; ++r, x += C, y += C) {
        const bool centered = config.arch == Arch::gpt2;
        const Vec<float> mean(centered ? simd_sum(
                                             C, [](auto v) { return v; }, x) *
                                             inverse
                                       : 0.0f);
        const float variance = simd_sum(
                                   C, [=](auto v) { return (v - mean) * (v - mean); }, x) *
                               inverse;
        const Vec<float> scale(1.0f / std::sqrt(variance + static_cast<float>(config.layer_norm_epsilon)));
        if (norm.bias.defined()) {
            simd_map(
                C, y, [=](auto v, auto g, auto b) { return (v - mean) * scale * g + b; }, x, norm.gain.data(),
                norm.bias.data());
        } else if (norm.gain.defined()) {
            simd_map(
                C, y, [=](auto v, auto g) { return (v - mean) * scale * g; }, x, norm.gain.data());
        } else {
            simd_map(
                C, y, [=](auto v) { return (v - mean) * scale; }, x);
        }
    }
}

void DecoderWeights::activate(float* x, std::size_t n) const {
    using V = Vec<float>;
    if (config.arch == Arch::nanochat) {
        return simd_map(
            n, x,
            [](auto v) {
                const V positive = xsimd::max(v, V(0.0f));
                return positive * positive;
            },
            x);
    }
    // gelu: x sigmoid(2 u), u = sqrt(2/pi) (x + 0.044715 x^3); beyond 20 the gate is 0 or 1
    const V c(static_cast<float>(2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi)), k(0.044715f);
    simd_map(
        n, x,
        [=](auto v) {
            const V inner = xsimd::min(xsimd::max(v, V(-20.0f)), V(20.0f));
            return v / (V(1.0f) + xsimd::exp(-(inner * (c + c * k * inner * inner))));
        },
        x);
}

void DecoderWeights::cap(float* logits, std::size_t n) const {
    if (config.arch != Arch::nanochat || config.softcap <= 0) return;
    const Vec<float> cap(static_cast<float>(config.softcap));
    simd_map(
        n, logits, [=](auto v) { return cap * xsimd::tanh(v / cap); }, logits);
}

std::size_t DecoderWeights::bytes() const {
    std::size_t all = head.weight.bytes();
    for (const DecoderLayer& l : layers) {
        all += l.out.weight.bytes() + l.up.weight.bytes() + l.down.weight.bytes();
        for (const Projection& p : l.qkv) all += p.weight.bytes();
    }
    return all;
}

}  // namespace inkling::models
