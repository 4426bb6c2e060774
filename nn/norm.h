// LayerNorm and RMSNorm over the last axis, with a learned gain.
#pragma once

#include "engine/fused/norm.h"
#include "nn/init.h"

namespace inkling::nn {

template <class T>
class LayerNorm : public Module<T> {
  public:
    explicit LayerNorm(std::size_t width, bool with_bias = true, double epsilon = 1e-5)
        : weight(parameter<T>({width}, T{1})), eps(epsilon) {
        if (with_bias) bias = parameter<T>({width}, T{0});
    }

    Tensor<T> forward(const Tensor<T>& x) const { return layer_norm(x, weight, bias, eps); }
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
    explicit RMSNorm(std::size_t width, double epsilon = 1e-5) : weight(parameter<T>({width}, T{1})), eps(epsilon) {}

    Tensor<T> forward(const Tensor<T>& x) const { return rms_norm(x, weight, eps); }
    void visit(const Visitor<T>& v) override { v("weight", weight); }

    Tensor<T> weight;  // (width): ones
    double eps;
};

}  // namespace inkling::nn
