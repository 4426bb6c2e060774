#include "train/optimizers/adamw.h"

#include <cmath>

#include "engine/base/parallel.h"
#include "engine/base/portable_math.h"
#include "engine/base/profile.h"
#include "train/optimizers/decayed.h"

namespace inkling::train {

double RoleRates::of(nn::Role role) const {
    if (role == nn::Role::embedding) return embedding;
    if (role == nn::Role::head) return head;
    return role == nn::Role::matrix ? matrix : vector;
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
    const std::size_t held = this->take_parts(own, options.weight_decay, [&](const Entry& entry) {
        return takes && !takes(entry) ? std::nullopt : std::optional(options.rates.of(entry.kind.role));
    });
    m = Array<T>({held}, T{0});
    v = Array<T>({held}, T{0});
}

template <class T>
auto AdamW<T>::state() -> std::vector<State> {
    std::vector<State> all;
    for (const Part& part : parts_) {
        all.push_back({"adamw.m", m.data() + part.state, part.range});
        all.push_back({"adamw.v", v.data() + part.state, part.range});
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
    this->over_reached([&](const Part& part, std::size_t begin, std::size_t length, std::uint64_t reached) {
        const auto t = static_cast<double>(reached);
        const std::size_t state = part.state + begin - part.range.begin;
        T *const p = values.data() + begin, *const pm = m.data() + state, *const pv = v.data() + state;
        const T* const g = all_g + begin;
        const double own_rate = learning_rate * part.rate;
        const Vec<T> keep = vec(1 - own_rate * part.weight_decay),
                     rate = vec(own_rate / (1 - portable::pow(options_.beta1, t))),
                     upscale = vec(1 / std::sqrt(1 - portable::pow(options_.beta2, t)));
        parallel_pieces(length, [&](std::size_t at, std::size_t end) {
            const std::size_t n = end - at;
            simd_map(n, pm + at, {pm + at, g + at},
                     [=](auto mean, auto grad) { return multiply_add(grad * scale - mean, one_less_b1, mean); });
            simd_map(n, pv + at, {pv + at, g + at}, [=](auto square, auto grad) {
                const auto scaled = grad * scale;
                return multiply_add(one_less_b2 * scaled, scaled, square * b2);
            });
            simd_map(n, p + at, {p + at, pm + at, pv + at}, [=](auto value, auto mean, auto square) {
                const auto step = rate * mean / multiply_add(xsimd::sqrt(square), upscale, eps);
                return decayed(value, keep, step, cautious);
            });
        });
    });
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace inkling::train
