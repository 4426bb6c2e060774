#include "nn/dropout.h"

#include "engine/ops/dropout.h"
#include "nn/init.h"

namespace inkling::nn {

template <class T>
Dropout<T>::Dropout(double probability) : p(probability) {
    check(p >= 0 && p < 1, "Dropout: a probability of at least 0 and below 1 is required, got {}", p);
}

template <class T>
Tensor<T> Dropout<T>::forward(const Tensor<T>& x) const {
    return this->training() && p > 0 ? dropout(x, p, default_generator().next()) : x;
}

template class Dropout<float>;
template class Dropout<double>;

}  // namespace inkling::nn
