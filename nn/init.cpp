#include "nn/init.h"

#include "engine/parallel.h"

namespace inkling::nn {

namespace {

template <class T, class Draw>
void fill(Tensor<T>& p, const Draw& draw) {
    T* const data = p.value_in_place().data();
    parallel_for(p.size(), kGrain / 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) data[i] = static_cast<T>(draw(i));
    });
}

}  // namespace

template <class T>
void fill_normal(Tensor<T>& p, double deviation, const RandomKey& key) {
    fill(p, [&](std::size_t i) { return deviation * random_normal(key, i); });
}

template <class T>
Tensor<T> parameter(const Shape& shape, T value) {
    return Tensor<T>(Array<T>(shape, value), true);
}

template <class T>
Tensor<T> normal_parameter(const Shape& shape, double deviation, const RandomKey& key) {
    Tensor<T> p(Array<T>(shape), true);
    fill_normal(p, deviation, key);
    return p;
}

template <class T>
Tensor<T> uniform_parameter(const Shape& shape, double bound, const RandomKey& key) {
    Tensor<T> p(Array<T>(shape), true);
    fill(p, [&](std::size_t i) { return bound * (2 * random_uniform(key, i) - 1); });
    return p;
}

#define INKLING_INSTANTIATE(T)                                                   \
    template void fill_normal(Tensor<T>&, double, const RandomKey&);             \
    template Tensor<T> parameter(const Shape&, T);                               \
    template Tensor<T> normal_parameter(const Shape&, double, const RandomKey&); \
    template Tensor<T> uniform_parameter(const Shape&, double, const RandomKey&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling::nn
