// Dropout: in training mode, keeps an element with probability 1 - p and scales it by 1 / (1 - p); else the identity.
#pragma once

#include "engine/base/random.h"
#include "engine/ops/elementwise/dropout.h"
#include "nn/module.h"

namespace inkling::nn {

template <class T>
class Dropout : public Module<T> {
  public:
    explicit Dropout(double probability) : p(probability) {  // in [0, 1)
        check(p >= 0 && p < 1, "Dropout: expected a probability of at least 0 and below 1, got {}", p);
    }

    // In training mode each call takes a key from `random`, which must not be null.
    Tensor<T> forward(const Tensor<T>& x, Generator* random = nullptr) const {
        if (!this->training() || p == 0) return x;
        check(random, "Dropout: training with dropout needs random numbers: pass a Generator, or call eval()");
        return dropout(x, p, random->next());
    }
    void visit(const Visitor<T>&) override {}

    double p;
};

}  // namespace inkling::nn
