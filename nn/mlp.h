// The feed-forward part of a transformer block: width -> hidden -> width, with GPT-2's gelu in between.
#pragma once

#include "engine/ops/elementwise/activation.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace inkling::nn {

template <class T>
class MLP : public Module<T> {
  public:
    MLP(Generator& random, std::size_t width, std::size_t hidden, double dropout_p, bool bias = true)
        : c_fc(random, width, hidden, bias), c_proj(random, hidden, width, bias), dropout(dropout_p) {}

    Tensor<T> forward(const Tensor<T>& x, Generator* random = nullptr) const {  // (..., width) -> (..., width)
        return dropout.forward(c_proj.forward(gelu(c_fc.forward(x))), random);
    }
    void visit(const Visitor<T>& v) override {
        v("c_fc", c_fc);
        v("c_proj", c_proj);
        v("dropout", dropout);
    }

    Linear<T> c_fc, c_proj;
    Dropout<T> dropout;
};

}  // namespace inkling::nn
