//   dropout   y = x m / (1 - p)     dx = dy m / (1 - p),  m the mask of the key: a product, so that NaN stays NaN
#include "engine/ops/elementwise/dropout.h"

#include "engine/autograd/op_gradients.h"
#include "engine/base/parallel.h"

namespace inkling {
namespace {

template <class T>
Array<T> dropped(const ConstArray<T>& x_any, double p, const RandomKey& key) {
    const ConstArray<T> x = x_any.contiguous();
    Array<T> y(x.shape());
    const std::uint32_t threshold = dropout_threshold(p);
    const T scale = static_cast<T>(1.0 / (1.0 - p));
    const T* const in = x.data();
    T* const out = y.data();
    parallel_for(x.size(), kGrain / 4, [&](std::size_t begin, std::size_t end) {
        constexpr std::size_t kBlock = 256;
        std::uint32_t words[kBlock];
        for (std::size_t i = begin; i < end; i += kBlock) {
            const std::size_t n = std::min(kBlock, end - i);
            random_words_range(key, i, n, words);
            for (std::size_t j = 0; j < n; ++j) out[i + j] = in[i + j] * (words[j] >= threshold ? scale : T{0});
        }
    });
    return y;
}

}  // namespace

template <class T>
Tensor<T> dropout(const Tensor<T>& x, double p, const RandomKey& key) {
    check_defined("dropout", x);
    check(p >= 0 && p < 1, "dropout: expected a probability of at least 0 and below 1, got {}", p);
    if (p == 0) return x;
    return record("dropout", dropped(x.value(), p, key), inputs(x),
                  [p, key](const Tensor<T>& dy, Gradients<T>& grads) { grads.add(0, dropout(dy, p, key)); });
}

template Tensor<float> dropout(const Tensor<float>&, double, const RandomKey&);
template Tensor<double> dropout(const Tensor<double>&, double, const RandomKey&);

}  // namespace inkling
