#include "train/optimizers/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/parallel.h"
#include "engine/base/profile.h"
#include "engine/kernels/lanes.h"
#include "train/optimizers/adamw.h"
#include "train/optimizers/muon.h"
#include "train/optimizers/sgd.h"

namespace inkling::train {

std::unique_ptr<Optimizer<float>> make_optimizer(const TrainOptions& o, nn::FlatParameters<float>& parameters,
                                                 const Ranges* own) {
    // all rates follow one schedule, so only their ratios matter
    const auto ratio = [&](double rate) { return rate > 0 ? rate / o.learning_rate : 1.0; };
    const RoleRates rates{.embedding = ratio(o.embedding_lr), .head = ratio(o.head_lr), .vector = ratio(o.vector_lr)};
    const AdamWOptions adamw{.beta1 = o.beta1,
                             .beta2 = o.beta2,
                             .weight_decay = o.weight_decay,
                             .cautious = o.cautious_weight_decay,
                             .rates = rates};
    if (o.optimizer == OptimizerKind::adamw) return std::make_unique<AdamW<float>>(parameters, adamw, nullptr, own);
    if (o.optimizer == OptimizerKind::sgd) {
        const SGDOptions sgd{
            .momentum = o.momentum, .nesterov = o.nesterov && o.momentum > 0, .weight_decay = o.weight_decay};
        return std::make_unique<SGD<float>>(parameters, sgd, own);
    }
    MuonOptions muon;
    muon.momentum = o.momentum;
    muon.nesterov = o.nesterov;
    muon.ns_steps = o.ns_steps;
    muon.coefficients = o.ns_coefficients;
    muon.scale = o.muon_scale;
    muon.split_heads = o.muon_split_heads;
    muon.weight_decay = o.weight_decay;
    muon.cautious = o.cautious_weight_decay;
    muon.adamw = adamw;
    return std::make_unique<Muon<float>>(parameters, muon, own);
}

double whole_cost(const TrainOptions& options, const nn::FlatParameters<float>::Entry& entry) {
    if (options.optimizer != OptimizerKind::muon || !is_matrix_of_muon(entry)) return 0;
    // an element of a matrix whose shorter side is M takes about 6 M multiply-adds in each Newton-Schulz step; a
    // hundred of them take as long as AdamW's update of an element
    const Shape& shape = entry.parameter.shape();
    return static_cast<double>(entry.parameter.size()) *
           (1 + 0.02 * static_cast<double>(options.ns_steps * std::min(shape[0], shape[1])));
}

void copy_state(Optimizer<float>& from, Optimizer<float>& to) {
    const auto targets = to.state();
    for (const auto& a : from.state()) {
        for (const auto& b : targets) {
            const std::size_t begin = std::max(a.range.begin, b.range.begin), end = std::min(a.range.end, b.range.end);
            if (begin < end && std::strcmp(a.kind, b.kind) == 0)
                std::copy(a.values + begin - a.range.begin, a.values + end - a.range.begin,
                          b.values + begin - b.range.begin);
        }
    }
    to.updates = from.updates;
    to.missed = from.missed;
}

template <class T>
double gradient_norm(const Array<T>& gradients) {
    profile::count_bytes(static_cast<double>(gradients.size() * sizeof(T)));
    const T* const g = gradients.data();
    return std::sqrt(chunked_sum<double>(gradients.size(), 4096, [g](std::size_t begin, std::size_t end) {
        return static_cast<double>(simd_dot(end - begin, g + begin, g + begin));
    }));
}

double clip_scale(double norm, double max_norm) { return max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0; }

template double gradient_norm(const Array<float>&);
template double gradient_norm(const Array<double>&);

}  // namespace inkling::train
