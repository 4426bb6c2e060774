#include "train/optimizers/adamw.h"

#include <cmath>

#include "engine/base/parallel.h"
#include "engine/base/portable_math.h"
#include "engine/base/profile.h"
#include "train/optimizers/decayed.h"

namespace inkling::train {

double RoleRates::of(nn::Role role) const {
    switch (role) {
        case nn::Role::embedding:
            return embedding;
        case nn::Role::head:
            return head;
        case nn::Role::matrix:
            return matrix;
        case nn::Role::vector:
            return vector;
    }
    return 1;
}

template <class T>
AdamW<T>::AdamW(nn::FlatParameters<T>& parameters, const AdamWOptions& options,
                const std::function<bool(const Entry&)>& takes, const Ranges* own)
    : Optimizer<T>(parameters), options_(options) {
    check_option("AdamW: beta1", options.beta1, 1);
    check_option("AdamW: beta2", options.beta2, 1);
    check_option("AdamW: eps", options.eps);
    check_option("AdamW: weight_decay", options.weight_decay);
    for (const nn::Role role : {nn::Role::embedding, nn::Role::head, nn::Role::matrix, nn::Role::vector})
        check_option("AdamW: the rate of a role", options.rates.of(role));
    const auto& entries = parameters.entries();
    std::size_t held = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (takes && !takes(entries[i])) continue;
        const std::size_t begin = entries[i].offset;
        const std::size_t end = i + 1 < entries.size() ? entries[i + 1].offset : parameters.values().size();
        const double rate = options.rates.of(entries[i].kind.role);
        const double decay = begin < parameters.matrix_elements() ? options.weight_decay : 0.0;
        for (const Range& range : own ? *own : Ranges{{begin, end}}) {
            const std::size_t from = std::max(begin, range.begin), to = std::min(end, range.end);
            if (from >= to) continue;
            Part* const last = parts_.empty() ? nullptr : &parts_.back();
            if (last && last->end == from && last->rate == rate && last->weight_decay == decay) {
                last->end = to;
            } else {
                parts_.push_back({from, to, held, rate, decay});
            }
            held += to - from;
        }
    }
    m = Array<T>({held}, T{0});
    v = Array<T>({held}, T{0});
}

template <class T>
auto AdamW<T>::state() -> std::vector<State> {
    std::vector<State> all;
    for (const Part& part : parts_) {
        all.push_back({"adamw.m", m.data() + part.state, {part.begin, part.end}});
        all.push_back({"adamw.v", v.data() + part.state, {part.begin, part.end}});
    }
    return all;
}

template <class T>
void AdamW<T>::step(double learning_rate, double gradient_scale) {
    this->count_update(learning_rate);
    const auto vec = [](double x) { return Vec<T>(static_cast<T>(x)); };
    const Vec<T> scale = vec(gradient_scale), one_less_b1 = vec(1 - options_.beta1), b2 = vec(options_.beta2),
                 one_less_b2 = vec(1 - options_.beta2), eps = vec(options_.eps);
    const bool cautious = options_.cautious;
    Array<T>& values = parameters_.values();
    profile::count_bytes(static_cast<double>(7 * m.size() * sizeof(T)));
    values.count_write();
    const T* const all_g = parameters_.gradients().data();
    const auto update = [&](const Part& part, std::size_t begin, std::size_t length, double t) {
        const std::size_t state = part.state + begin - part.begin;
        T *const p = values.data() + begin, *const pm = m.data() + state, *const pv = v.data() + state;
        const T* const g = all_g + begin;
        const double own_rate = learning_rate * part.rate;
        const Vec<T> keep = vec(1 - own_rate * part.weight_decay),
                     rate = vec(own_rate / (1 - portable::pow(options_.beta1, t))),
                     upscale = vec(1 / std::sqrt(1 - portable::pow(options_.beta2, t)));
        parallel_pieces(length, [&](std::size_t at, std::size_t end) {
            const std::size_t n = end - at;
            simd_map(
                n, pm + at, [=](auto mean, auto grad) { return multiply_add(grad * scale - mean, one_less_b1, mean); },
                pm + at, g + at);
            simd_map(
                n, pv + at,
                [=](auto square, auto grad) {
                    const auto scaled = grad * scale;
                    return multiply_add(one_less_b2 * scaled, scaled, square * b2);
                },
                pv + at, g + at);
            simd_map(
                n, p + at,
                [=](auto value, auto mean, auto square) {
                    const auto step = rate * mean / multiply_add(xsimd::sqrt(square), upscale, eps);
                    return decayed(value, keep, step, cautious);
                },
                p + at, pm + at, pv + at);
        });
    };
    for (const Part& part : parts_) {
        this->over_reached({part.begin, part.end}, [&](std::size_t begin, std::size_t end, std::uint64_t t) {
            update(part, begin, end - begin, static_cast<double>(t));
        });
    }
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace inkling::train
