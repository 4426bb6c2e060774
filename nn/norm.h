// LayerNorm and RMSNorm over the last axis, with a learned gain.
#pragma once

#include "nn/module.h"

namespace inkling::nn {

template <class T>
class LayerNorm : public Module<T> {
  public:
    explicit LayerNorm(std::size_t width, bool with_bias = true, double epsilon = 1e-5);

    Tensor<T> forward(const Tensor<T>& x) const;
    void visit(const Visitor<T>& v) override {
        v("weight", weight);
        v("bias", bias);
    }

    Tensor<T> weight, bias;  // (width): ones; zeros, or undefined without a bias
    double eps;
};

template <class T>
class RMSNorm : public Module<T> {
  public:
    explicit RMSNorm(std::size_t width, double epsilon = 1e-5);

    Tensor<T> forward(const Tensor<T>& x) const;
    void visit(const Visitor<T>& v) override { v("weight", weight); }

    Tensor<T> weight;  // (width): ones
    double eps;
};

extern template class LayerNorm<float>;
extern template class LayerNorm<double>;
extern template class RMSNorm<float>;
extern template class RMSNorm<double>;

}  // namespace inkling::nn
