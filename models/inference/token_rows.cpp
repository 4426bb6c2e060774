// What the transformer computes for tensors (models/transformer.cpp), for the vectors of a few tokens, on one thread.
#include <algorithm>

#include "engine/fused/linear.h"
#include "engine/kernels/add_row.h"
#include "engine/kernels/norm_row.h"
#include "engine/kernels/rotate_row.h"
#include "models/activation.h"
#include "models/inference/inference_model.h"

namespace inkling::models {

void InferenceModel::project(const Weights<Tensor<float>>& map, std::size_t begin, std::size_t end, const float* x,
                             std::size_t batch, float* y, std::size_t y_stride, float* room) const {
    linear_by_row(map.weight, map.bias, begin, end, x, batch, y, y_stride);
    if (!map.lora_a.defined()) return;
    const std::size_t r = map.lora_a.dim(0), out = map.weight.dim(0);
    float *const h = room, *const added = room + batch * r;
    multiply(map.lora_a, 0, r, x, batch, h, r);  // by each thread: small beside its rows of the weight
    const auto scale = static_cast<float>(model_.adapter.scale(map));
    for (std::size_t i = 0; i < batch * r; ++i) h[i] *= scale;
    multiply(map.lora_b, begin, end, h, batch, added, out);
    for (std::size_t b = 0; b < batch; ++b) add_row(end - begin, y + b * y_stride + begin, added + b * out + begin);
}

std::size_t InferenceModel::low_rank_room() const {
    std::size_t most = 0;
    const auto count = [&](const auto& weights) {
        for (const auto& w : weights.all)
            if (w.lora_a.defined()) most = std::max(most, w.lora_a.dim(0) + w.weight.dim(0));
    };
    count(model_.parts);
    for (const auto& layer : model_.layers) count(layer);
    return most;
}

void InferenceModel::head(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* logits,
                          float* room) const {
    const std::size_t V = config().vocab_size;
    project(model_.parts[Part::head], begin, end, x, batch, logits, V, room);
    if (config().softcap <= 0) return;
    const auto cap = static_cast<float>(config().softcap), inverse = static_cast<float>(1 / config().softcap);
    for (std::size_t b = 0; b < batch; ++b) {
        float* const row = logits + b * V + begin;
        simd_map(
            end - begin, row, [=](auto v) { return activation_row::softcap(v, cap, inverse); }, row);
    }
}

void InferenceModel::norm(const Weights<Tensor<float>>& norm, const float* x, std::size_t batch, float* y) const {
    const std::size_t C = config().n_embd;
    const auto eps = static_cast<float>(config().norm_epsilon);
    for (std::size_t b = 0; b < batch; ++b, x += C, y += C) {
        normalize_row(C, x, row_moments(C, x, config().norm == NormKind::layer, eps), norm.weight.value().data(),
                      norm.bias.value().data(), y);
    }
}

// A head's query or key (d); angles (1, 2, r / 2) of its position, or undefined.
void InferenceModel::rotate_head(float* x, const ConstArray<float>& angles, const Tensor<float>& gain) const {
    const std::size_t d = config().head_size(), half = config().rotary_size() / 2;
    const auto norm = [&] {
        const RowMoments<float> moments = row_moments(d, x, false, static_cast<float>(config().norm_epsilon));
        normalize_row<float>(d, x, moments, gain.value().data(), nullptr, x);
    };
    if (config().head_norm == HeadNorm::before_rotary) norm();
    if (angles.defined()) rotate_row<1>(x, angles.data(), angles.data() + half, 1.0f, half, half, x);
    if (config().head_norm == HeadNorm::after_rotary) norm();
}

void InferenceModel::embed(std::int32_t token, std::size_t position, float* x) const {
    const std::size_t C = config().n_embd;
    const Tensor<float>&table = model_.parts[Part::token_table].weight,
          &positions = model_.parts[Part::position_table].weight;
    const auto row = static_cast<std::size_t>(token);
    if (table.packed()) {
        table.packed()->unpack_rows(row, row + 1, x);
    } else {
        std::copy_n(table.value().data() + row * C, C, x);
    }
    if (config().embedding_norm) norm({}, x, 1, x);
    if (config().scaled_embedding)
        simd_map(
            C, x, [s = Vec<float>(static_cast<float>(std::sqrt(static_cast<double>(C))))](auto v) { return v * s; }, x);
    if (positions.defined()) add_row(C, x, positions.value().data() + position * C);
}

}  // namespace inkling::models
