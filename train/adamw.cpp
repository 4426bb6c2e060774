#include "train/adamw.h"

#include <cmath>

#include "engine/parallel.h"
#include "engine/profile.h"
#include "engine/simd.h"

namespace inkling::train {

template <class T>
AdamW<T>::AdamW(nn::FlatParameters<T>& parameters, const AdamWOptions& options)
    : m(parameters.values().shape(), T{0}),
      v(parameters.values().shape(), T{0}),
      parameters_(parameters),
      options_(options) {}

template <class T>
void AdamW<T>::step(double learning_rate, double gradient_scale) {
    const auto t = static_cast<double>(++updates);
    const auto vec = [](double x) { return Vec<T>(static_cast<T>(x)); };
    const Vec<T> scale = vec(gradient_scale), one_less_b1 = vec(1 - options_.beta1), b2 = vec(options_.beta2),
                 one_less_b2 = vec(1 - options_.beta2), eps = vec(options_.eps),
                 rate = vec(learning_rate / (1 - std::pow(options_.beta1, t))),
                 root = vec(std::sqrt(1 - std::pow(options_.beta2, t)));
    Array<T>& values = parameters_.values();
    profile::count_bytes(static_cast<double>(7 * values.size() * sizeof(T)));
    values.count_write();
    T *const p = values.data(), *const pm = m.data(), *const pv = v.data();
    const T* const g = parameters_.gradients().data();
    const auto update = [&](std::size_t first, std::size_t last, double decay) {
        const Vec<T> keep = vec(1 - learning_rate * decay);
        parallel_for(last - first, kGrain, [&](std::size_t begin, std::size_t end) {
            const std::size_t at = first + begin, n = end - begin;
            simd_map(
                n, pm + at, [=](auto mean, auto grad) { return mean + (grad * scale - mean) * one_less_b1; }, pm + at,
                g + at);
            simd_map(
                n, pv + at,
                [=](auto square, auto grad) {
                    const auto scaled = grad * scale;
                    return square * b2 + one_less_b2 * scaled * scaled;
                },
                pv + at, g + at);
            simd_map(
                n, p + at,
                [=](auto value, auto mean, auto square) {
                    return value * keep - rate * mean / (xsimd::sqrt(square) / root + eps);
                },
                p + at, pm + at, pv + at);
        });
    };
    update(0, parameters_.matrix_elements(), options_.weight_decay);
    update(parameters_.matrix_elements(), values.size(), 0.0);
}

template <class T>
double gradient_norm(const Array<T>& gradients) {
    profile::count_bytes(static_cast<double>(gradients.size() * sizeof(T)));
    const T* const g = gradients.data();
    return std::sqrt(chunked_sum<double>(gradients.size(), 4096, [g](std::size_t begin, std::size_t end) {
        return static_cast<double>(simd_sum(
            end - begin, [](auto x) { return x * x; }, g + begin));
    }));
}

double clip_scale(double norm, double longest) { return longest > 0 ? std::min(1.0, longest / (norm + 1e-6)) : 1.0; }

template class AdamW<float>;
template class AdamW<double>;
template double gradient_norm(const Array<float>&);
template double gradient_norm(const Array<double>&);

}  // namespace inkling::train
