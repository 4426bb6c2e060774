#include "models/decoder/decoder_weights.h"

#include <cmath>
#include <numbers>

#include "engine/kernels/full_range.h"
#include "engine/kernels/norm_row.h"
#include "engine/kernels/rotate_row.h"
#include "models/rotary_positions.h"

namespace inkling::models {
namespace {

constexpr Part kQueryKeyValue[] = {Part::query_key_value, Part::query, Part::key, Part::value};

PackedMatrix pack(const Tensor<float>& weight, WeightType type) {
    const auto& packed = weight.packed();
    const bool exact = packed && type == WeightType::fp32 && packed->type() == WeightType::bf16;
    if (!packed) return PackedMatrix(weight.value(), type);
    return exact ? *packed : packed->as(type);
}

Projection pack(const Weights<Tensor<float>>& map, WeightType type) {
    return {pack(map.weight, type), map.bias.value()};
}

Norm norm_of(const Weights<Tensor<float>>& norm) { return {norm.weight.value(), norm.bias.value()}; }

}  // namespace

void Projection::apply(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                       std::size_t y_stride) const {
    weight.multiply(begin, end, x, batch, y, y_stride);
    const auto add = [&](std::size_t b, const float* values) {
        float* const row = y + b * y_stride + begin;
        simd_map(
            end - begin, row, [](auto v, auto shift) { return v + shift; }, row, values + begin);
    };
    for (std::size_t b = 0; bias.defined() && b < batch; ++b) add(b, bias.data());
    if (lora_a.rows() == 0) return;
    const std::size_t r = lora_a.rows(), out = weight.rows();
    std::vector<float> h(batch * r), added(batch * out);
    lora_a.multiply(0, r, x, batch, h.data(), r);  // by each thread: small beside its rows of the weight
    lora_b.multiply(begin, end, h.data(), batch, added.data(), out);
    for (std::size_t b = 0; b < batch; ++b) add(b, added.data() + b * out);
}

Array<float> Projection::product(const ConstArray<float>& x, Precision precision) const {
    Array<float> y = weight.product(x, bias, precision);
    if (lora_a.rows() == 0) return y;
    ConstArray<float> in = x;
    if (precision == Precision::bf16) in = widen(round_to_bfloat16(x));  // as apply() gets it
    add_into(y, lora_b.product(lora_a.product(in, {}, Precision::fp32), {}, Precision::fp32));
    return y;
}

DecoderWeights::DecoderWeights(const Transformer<float>& model, WeightType weight_type)
    : config(model.config), type(weight_type) {
    const Tensor<float>& table = model.parts[Part::token_table].weight;
    tokens = table.packed() ? *table.packed() : PackedMatrix(table.value(), WeightType::fp32);
    positions = model.parts[Part::position_table].weight.value();
    angles = rotary_table<float>(config, config.block_size);
    for (const auto& l : model.layers) {
        DecoderLayer& layer = layers.emplace_back();
        layer.before_attention = norm_of(l[Part::attention_norm]);
        layer.before_mlp = norm_of(l[Part::mlp_norm]);
        for (const Part part : kQueryKeyValue)
            if (l[part].weight.defined()) layer.qkv.push_back(pack(l[part], type));
        layer.query_gain = l[Part::query_norm].weight.value();
        layer.key_gain = l[Part::key_norm].weight.value();
        layer.out = pack(l[Part::attention_output], type);
        if (config.gated) layer.gate = pack(l[Part::gate], type);
        layer.up = pack(l[Part::up], type);
        layer.down = pack(l[Part::down], type);
    }
    last = norm_of(model.parts[Part::final_norm]);
    head = {pack(model.head_weight(), type)};
    take_adapter(model);
}

void DecoderWeights::take_adapter(const Transformer<float>& model) {
    const auto take = [&](Projection& p, const Weights<Tensor<float>>& map) {
        p.lora_a = p.lora_b = {};
        if (!map.lora_a.defined()) return;
        Array<float> b = map.lora_b.value().clone();
        b *= static_cast<float>(model.adapter.scale());
        p.lora_a = PackedMatrix(map.lora_a.value(), WeightType::fp32);
        p.lora_b = PackedMatrix(b, WeightType::fp32);
    };
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto& l = model.layers[i];
        auto projection = layers[i].qkv.begin();
        for (const Part part : kQueryKeyValue)
            if (l[part].weight.defined()) take(*projection++, l[part]);
        take(layers[i].out, l[Part::attention_output]);
        if (config.gated) take(layers[i].gate, l[Part::gate]);
        take(layers[i].up, l[Part::up]);
        take(layers[i].down, l[Part::down]);
    }
    take(head, model.parts[Part::head]);
}

void DecoderWeights::normalize(const Norm& norm, const float* x, std::size_t n, float* y) const {
    const std::size_t C = config.n_embd;
    const auto eps = static_cast<float>(config.norm_epsilon);
    for (std::size_t r = 0; r < n; ++r, x += C, y += C) {
        normalize_row(C, x, row_moments(C, x, config.norm == NormKind::layer, eps), norm.gain.data(), norm.bias.data(),
                      y);
    }
}

void DecoderWeights::rotate(float* x, std::size_t position, const ConstArray<float>& gain) const {
    const std::size_t d = config.head_size(), r = config.rotary_size(), half = r / 2;
    const auto norm = [&] {
        normalize_row<float>(d, x, row_moments(d, x, false, static_cast<float>(config.norm_epsilon)), gain.data(),
                             nullptr, x);
    };
    if (config.head_norm == HeadNorm::before_rotary) norm();
    if (angles.defined()) {
        const float* const cos = angles.data() + position * r;
        rotate_row<1>(x, cos, cos + half, 1.0f, half, half, x);
    }
    if (config.head_norm == HeadNorm::after_rotary) norm();
}

void DecoderWeights::activate(float* x, std::size_t n) const {
    using V = Vec<float>;
    const auto relu2 = [](auto v) {
        const V positive = xsimd::max(v, V(0.0f));
        return positive * positive;
    };
    const auto silu = [](auto v) { return full_range::silu(v / (V(1.0f) + xsimd::exp(-v)), v); };
    // gelu: x sigmoid(2 u), u = sqrt(2/pi) (x + 0.044715 x^3); beyond 20 the gate is 0 or 1
    const auto gelu = [](auto v) {
        const V c(static_cast<float>(2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi)), k(0.044715f);
        const V inner = xsimd::min(xsimd::max(v, V(-20.0f)), V(20.0f));
        return v / (V(1.0f) + xsimd::exp(-(inner * (c + c * k * inner * inner))));
    };
    const auto relu = [](auto v) { return xsimd::max(v, V(0.0f)); };
    const auto gelu_erf = [](auto v) {
        return V(0.5f) * v * (V(1.0f) + xsimd::erf(v * V(static_cast<float>(1 / std::numbers::sqrt2))));
    };
    switch (config.activation) {
        case Activation::relu:
            return simd_map(n, x, relu, x);
        case Activation::gelu_erf:
            return simd_map(n, x, gelu_erf, x);
        case Activation::squared_relu:
            return simd_map(n, x, relu2, x);
        case Activation::silu:
            return simd_map(n, x, silu, x);
        case Activation::gelu_tanh:
            return simd_map(n, x, gelu, x);
    }
}

void DecoderWeights::cap(float* logits, std::size_t n) const {
    if (config.softcap <= 0) return;
    const Vec<float> cap(static_cast<float>(config.softcap));
    simd_map(
        n, logits, [=](auto v) { return cap * xsimd::tanh(v / cap); }, logits);
}

std::size_t DecoderWeights::bytes() const {
    std::size_t all = head.weight.bytes();
    for (const DecoderLayer& l : layers) {
        for (const Projection* p : {&l.out, &l.gate, &l.up, &l.down}) all += p->weight.bytes();
        for (const Projection& p : l.qkv) all += p.weight.bytes();
    }
    return all;
}

}  // namespace inkling::models
