//   dropout   y = x m / (1 - p)     dx = dy m / (1 - p),  m the mask of the key
#include "engine/ops/dropout.h"

#include <cmath>

#include "engine/backward.h"
#include "engine/parallel.h"

namespace inkling {
namespace {

template <class T>
Array<T> drop(const Array<T>& x_any, double p, const RandomKey& key) {
    const Array<T> x = x_any.contiguous();
    Array<T> y(x.shape());
    const auto threshold = static_cast<std::uint32_t>(std::min(std::round(p * 0x1p32), 0x1p32 - 1));
    const T scale = static_cast<T>(1.0 / (1.0 - p));
    const T* const in = x.data();
    T* const out = y.data();
    const std::size_t n = x.size();
    parallel_for((n + 3) / 4, kGrain / 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t group = begin; group < end; ++group) {  // four elements to a call of the generator
            const auto words = random_words(key, group);
            for (std::size_t i = 4 * group; i < std::min(n, 4 * group + 4); ++i) {
                out[i] = words[i % 4] >= threshold ? in[i] * scale : T{0};
            }
        }
    });
    return y;
}

}  // namespace

template <class T>
Tensor<T> dropout(const Tensor<T>& x, double p, const RandomKey& key) {
    check(p >= 0 && p < 1, "dropout: a probability of at least 0 and below 1 is required, got {}", p);
    if (p == 0) return x;
    return record("dropout", drop(x.value(), p, key), inputs(x),
                  [p, key](const Array<T>& dy, Gradients<T>& grads) { grads.add(0, drop(dy, p, key)); });
}

template Tensor<float> dropout(const Tensor<float>&, double, const RandomKey&);
template Tensor<double> dropout(const Tensor<double>&, double, const RandomKey&);

}  // namespace inkling
