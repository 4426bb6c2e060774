// The linear layer y = x W^T + b.
//   Generator random{1337, 0};
//   const Linear<float> layer(random, 3, 2);
#pragma once

#include <cmath>

#include "engine/fused/linear.h"
#include "nn/init.h"

namespace inkling::nn {

template <class T>
class Linear : public Module<T> {
  public:
    // Initial values as torch.nn.Linear: uniform in +-1/sqrt(in).
    Linear(Generator& random, std::size_t in, std::size_t out, bool with_bias = true) {
        check(in > 0 && out > 0, "Linear: expected sizes above 0, got {} in and {} out", in, out);
        const Initial bound = Initial::uniform(1.0 / std::sqrt(static_cast<double>(in)));
        weight = parameter<T>({out, in}, bound, random);
        if (with_bias) bias = parameter<T>({out}, bound, random);
    }

    Tensor<T> forward(const Tensor<T>& x) const { return linear(x, weight, bias); }  // (..., in) -> (..., out)
    void visit(const Visitor<T>& v) override {
        v("weight", weight);
        v("bias", bias);
    }

    Tensor<T> weight;  // (out, in)
    Tensor<T> bias;    // (out), undefined without a bias
};

}  // namespace inkling::nn
