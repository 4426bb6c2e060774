// Tensors of given or random numbers.
#include <cmath>

#include "engine/autograd/tensor.h"
#include "engine/base/parallel.h"
#include "engine/base/random.h"

namespace inkling {
namespace {

// Makes a tensor with number(i) as element i.
template <class T, class F>
Tensor<T> of_numbers(const Shape& shape, bool requires_grad, std::size_t grain, const F& number) {
    Array<T> values(shape);
    fill_numbers(values.size(), grain, values.data(), number);
    return Tensor<T>(std::move(values), requires_grad);
}

}  // namespace

template <class T>
Nested<T>::Nested(std::initializer_list<Nested> parts) {
    if (parts.size() > 0) shape = parts.begin()->shape;
    for (const Nested& part : parts) {
        check(part.shape == shape, "from: expected parts of equal shapes, got {} and {}", shape, part.shape);
        values.insert(values.end(), part.values.begin(), part.values.end());
    }
    shape.insert(shape.begin(), parts.size());
}

template <class T>
Tensor<T> Tensor<T>::from(const Nested<T>& values, bool requires_grad) {
    return from(values.values, values.shape, requires_grad);
}

template <class T>
Tensor<T> Tensor<T>::from(const std::vector<T>& values, const Shape& shape, bool requires_grad) {
    Array<T> array(shape);
    check(array.size() == values.size(), "from: {} numbers do not fill shape {}", values.size(), shape);
    std::copy(values.begin(), values.end(), array.data());
    return Tensor(std::move(array), requires_grad);
}

template <class T>
Tensor<T> Tensor<T>::full(const Shape& shape, T value, bool requires_grad) {
    return Tensor(Array<T>(shape, value), requires_grad);
}

template <class T>
Tensor<T> Tensor<T>::arange(double begin, double end, double step) {
    const double count = std::ceil((end - begin) / step);
    check(std::isfinite(count) && count >= 0 && count < 0x1p53,
          "arange: expected steps that lead from begin to end, got {}, {} and step {}", begin, end, step);
    return of_numbers<T>({static_cast<std::size_t>(count)}, false, kGrain,
                         [&](std::size_t i) { return begin + static_cast<double>(i) * step; });
}

template <class T>
Tensor<T> Tensor<T>::randn(const Shape& shape, const RandomKey& key, bool requires_grad) {
    return of_numbers<T>(shape, requires_grad, kGrain / 16, [&](std::size_t i) { return random_normal(key, i); });
}

template <class T>
Tensor<T> Tensor<T>::rand(const Shape& shape, const RandomKey& key, bool requires_grad) {
    return of_numbers<T>(shape, requires_grad, kGrain / 16, [&](std::size_t i) { return random_uniform(key, i); });
}

#define INKLING_INSTANTIATE(T)                                                     \
    template Nested<T>::Nested(std::initializer_list<Nested<T>>);                  \
    template Tensor<T> Tensor<T>::from(const Nested<T>&, bool);                    \
    template Tensor<T> Tensor<T>::from(const std::vector<T>&, const Shape&, bool); \
    template Tensor<T> Tensor<T>::full(const Shape&, T, bool);                     \
    template Tensor<T> Tensor<T>::arange(double, double, double);                  \
    template Tensor<T> Tensor<T>::randn(const Shape&, const RandomKey&, bool);     \
    template Tensor<T> Tensor<T>::rand(const Shape&, const RandomKey&, bool);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
