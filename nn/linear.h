// The linear layer y = x W^T + b.
//   Generator random{1337, 0};
//   const Linear<float> layer(random, 3, 2);
#pragma once

#include "engine/base/random.h"
#include "nn/module.h"

namespace inkling::nn {

template <class T>
class Linear : public Module<T> {
  public:
    // Initial values as torch.nn.Linear: uniform in +-1/sqrt(in).
    Linear(Generator& random, std::size_t in, std::size_t out, bool with_bias = true);

    Tensor<T> forward(const Tensor<T>& x) const;  // (..., in) -> (..., out)
    void visit(const Visitor<T>& v) override {
        v("weight", weight);
        v("bias", bias);
    }

    Tensor<T> weight;  // (out, in)
    Tensor<T> bias;    // (out), undefined without a bias
};

extern template class Linear<float>;
extern template class Linear<double>;

}  // namespace inkling::nn
