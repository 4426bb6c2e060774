// Dropout: in training, keeps an element with probability 1 - p and scales it by 1 / (1 - p); nothing in evaluation.
#pragma once

#include "nn/module.h"

namespace inkling::nn {

template <class T>
class Dropout : public Module<T> {
  public:
    explicit Dropout(double probability);  // in [0, 1)

    Tensor<T> forward(const Tensor<T>& x) const;  // each call in training takes a new key of default_generator()
    void visit(const Visitor<T>&) override {}

    double p;
};

extern template class Dropout<float>;
extern template class Dropout<double>;

}  // namespace inkling::nn
