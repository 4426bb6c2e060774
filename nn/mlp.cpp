#include "nn/mlp.h"

#include "engine/ops/elementwise/activation.h"

namespace inkling::nn {

template <class T>
MLP<T>::MLP(Generator& random, std::size_t width, std::size_t hidden, double dropout_p, bool bias)
    : c_fc(random, width, hidden, bias), c_proj(random, hidden, width, bias), dropout(dropout_p) {}

template <class T>
Tensor<T> MLP<T>::forward(const Tensor<T>& x, Generator* random) const {
    return dropout.forward(c_proj.forward(gelu(c_fc.forward(x))), random);
}

template class MLP<float>;
template class MLP<double>;

}  // namespace inkling::nn
