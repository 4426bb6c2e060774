// The feed-forward part of a transformer block: width -> hidden -> width, with GPT-2's gelu in between.
#pragma once

#include "nn/dropout.h"
#include "nn/linear.h"

namespace inkling::nn {

template <class T>
class MLP : public Module<T> {
  public:
    MLP(Generator& random, std::size_t width, std::size_t hidden, double dropout_p, bool bias = true);

    Tensor<T> forward(const Tensor<T>& x, Generator* random = nullptr) const;  // (..., width) -> (..., width)
    void visit(const Visitor<T>& v) override {
        v("c_fc", c_fc);
        v("c_proj", c_proj);
        v("dropout", dropout);
    }

    Linear<T> c_fc, c_proj;
    Dropout<T> dropout;
};

extern template class MLP<float>;
extern template class MLP<double>;

}  // namespace inkling::nn
