#include "nn/dropout.h"

#include "engine/ops/elementwise/dropout.h"

namespace inkling::nn {

template <class T>
Dropout<T>::Dropout(double probability) : p(probability) {
    check(p >= 0 && p < 1, "Dropout: a probability of at least 0 and below 1 is required, got {}", p);
}

template <class T>
Tensor<T> Dropout<T>::forward(const Tensor<T>& x, Generator* random) const {
    if (!this->training() || p == 0) return x;
    check(random, "Dropout: training with dropout needs random numbers: pass a Generator, or call eval()");
    return dropout(x, p, random->next());
}

template class Dropout<float>;
template class Dropout<double>;

}  // namespace inkling::nn
