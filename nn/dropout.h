// Dropout: in training, keeps an element with probability 1 - p and scales it by 1 / (1 - p); nothing in evaluation.
#pragma once

#include "engine/base/random.h"
#include "nn/module.h"

namespace inkling::nn {

template <class T>
class Dropout : public Module<T> {
  public:
    explicit Dropout(double probability);  // in [0, 1)

    // In training each call takes a key of `random`, which must be there.
    Tensor<T> forward(const Tensor<T>& x, Generator* random = nullptr) const;
    void visit(const Visitor<T>&) override {}

    double p;
};

extern template class Dropout<float>;
extern template class Dropout<double>;

}  // namespace inkling::nn
