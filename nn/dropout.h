// Dropout: in training mode, keeps an element with probability 1 - p and scales it by 1 / (1 - p); else the identity.
#pragma once

#include "engine/base/random.h"
#include "nn/module.h"

namespace inkling::nn {

template <class T>
class Dropout : public Module<T> {
  public:
    explicit Dropout(double probability);  // in [0, 1)

    // In training mode each call takes a key from `random`, which must not be null.
    Tensor<T> forward(const Tensor<T>& x, Generator* random = nullptr) const;
    void visit(const Visitor<T>&) override {}

    double p;
};

extern template class Dropout<float>;
extern template class Dropout<double>;

}  // namespace inkling::nn
