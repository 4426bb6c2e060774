#include "nn/embedding.h"

#include "engine/fused/embedding.h"
#include "nn/init.h"

namespace inkling::nn {

template <class T>
Embedding<T>::Embedding(Generator& random, std::size_t count, std::size_t width) {
    check(count > 0 && width > 0, "Embedding: sizes above 0 are required, got {} ids of width {}", count, width);
    weight = parameter<T>({count, width}, Initial::normal(1), random);
}

template <class T>
Tensor<T> Embedding<T>::forward(const IdArray& ids) const {
    return embedding(ids, weight);
}

template class Embedding<float>;
template class Embedding<double>;

}  // namespace inkling::nn
