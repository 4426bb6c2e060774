#include "train/optimizers/sgd.h"

#include "engine/kernels/simd.h"
#include "engine/parallel.h"
#include "engine/profile.h"

namespace inkling::train {

template <class T>
SGD<T>::SGD(nn::FlatParameters<T>& parameters, const SGDOptions& options)
    : momentum(parameters.values().shape(), T{0}), parameters_(parameters), options_(options) {}

template <class T>
void SGD<T>::step(double learning_rate, double gradient_scale) {
    ++this->updates;
    const auto vec = [](double x) { return Vec<T>(static_cast<T>(x)); };
    const Vec<T> scale = vec(gradient_scale), mu = vec(options_.momentum), rate = vec(learning_rate);
    Array<T>& values = parameters_.values();
    profile::count_bytes(static_cast<double>(6 * values.size() * sizeof(T)));
    values.count_write();
    T *const p = values.data(), *const b = momentum.data();
    const T* const g = parameters_.gradients().data();
    const auto update = [&](std::size_t first, std::size_t last, double weight_decay) {
        const Vec<T> decay = vec(weight_decay);
        parallel_pieces(last - first, [&](std::size_t begin, std::size_t end) {
            const std::size_t at = first + begin, n = end - begin;
            simd_map(
                n, b + at,
                [=](auto before, auto grad, auto value) { return mu * before + (grad * scale + decay * value); },
                b + at, g + at, p + at);
            if (options_.nesterov) {
                simd_map(
                    n, p + at,
                    [=](auto value, auto grad, auto now) {
                        return value - rate * ((grad * scale + decay * value) + mu * now);
                    },
                    p + at, g + at, b + at);
            } else {
                simd_map(
                    n, p + at, [=](auto value, auto now) { return value - rate * now; }, p + at, b + at);
            }
        });
    };
    update(0, parameters_.matrix_elements(), options_.weight_decay);
    update(parameters_.matrix_elements(), values.size(), 0.0);
}

template class SGD<float>;
template class SGD<double>;

}  // namespace inkling::train
