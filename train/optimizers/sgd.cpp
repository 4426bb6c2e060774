#include "train/optimizers/sgd.h"

#include "engine/base/parallel.h"
#include "engine/base/profile.h"
#include "engine/kernels/simd.h"

namespace inkling::train {

template <class T>
SGD<T>::SGD(nn::FlatParameters<T>& parameters, const SGDOptions& options, const Ranges* own)
    : Optimizer<T>(parameters), options_(options) {
    check_option("SGD: momentum", options.momentum);
    check_option("SGD: weight_decay", options.weight_decay);
    check(!options.nesterov || options.momentum > 0, "SGD: nesterov needs a momentum above 0");
    momentum = Array<T>({this->take_parts(own, options.weight_decay, [](const auto&) { return 1.0; })}, T{0});
}

template <class T>
auto SGD<T>::state() -> std::vector<State> {
    std::vector<State> all;
    for (const Part& part : parts_) all.push_back({"sgd.momentum", momentum.data() + part.state, part.range});
    return all;
}

template <class T>
void SGD<T>::step(double learning_rate, double gradient_scale) {
    this->count_update(learning_rate);
    const auto vec = [](double x) { return Vec<T>(static_cast<T>(x)); };
    const Vec<T> scale = vec(gradient_scale), mu = vec(options_.momentum), rate = vec(learning_rate);
    Array<T>& values = parameters_.values();
    profile::count_bytes(static_cast<double>(6 * momentum.size() * sizeof(T)));
    values.count_write();
    const T* const all_g = parameters_.gradients().data();
    this->over_reached([&](const Part& part, std::size_t begin, std::size_t length, std::uint64_t) {
        const Vec<T> decay = vec(part.weight_decay);
        T *const p = values.data() + begin, *const b = momentum.data() + part.state + begin - part.range.begin;
        const T* const g = all_g + begin;
        parallel_pieces(length, [&](std::size_t at, std::size_t end) {
            const std::size_t n = end - at;
            simd_map(n, b + at, {b + at, g + at, p + at},
                     [=](auto before, auto grad, auto value) { return mu * before + (grad * scale + decay * value); });
            if (options_.nesterov) {
                simd_map(n, p + at, {p + at, g + at, b + at}, [=](auto value, auto grad, auto now) {
                    return value - rate * ((grad * scale + decay * value) + mu * now);
                });
            } else {
                simd_map(n, p + at, {p + at, b + at}, [=](auto value, auto now) { return value - rate * now; });
            }
        });
    });
}

template class SGD<float>;
template class SGD<double>;

}  // namespace inkling::train
