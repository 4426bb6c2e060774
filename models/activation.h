// The activation of an Architecture's feed-forward part, for tensors (transformer.cpp) and for rows of a token step
// (inference/token_step.cpp), by the same formulas.
#pragma once

#include "engine/kernels/activation_row.h"
#include "engine/kernels/simd.h"
#include "engine/ops/elementwise/activation.h"
#include "models/architecture.h"

namespace inkling::models {

template <class T>
Tensor<T> activate(Activation activation, Tensor<T> x) {
    switch (activation) {
        case Activation::gelu_tanh:
            return gelu(std::move(x));
        case Activation::gelu_erf:
            return gelu_erf(std::move(x));
        case Activation::relu:
            return relu(std::move(x));
        case Activation::squared_relu:
            return squared_relu(std::move(x));
        case Activation::silu:
            return silu(std::move(x));
    }
    return x;
}

inline void activate(Activation activation, std::size_t n, float* x) {
    const auto map = [&](const auto& f) { simd_map(n, x, f, x); };
    switch (activation) {
        case Activation::gelu_tanh:
            return map([](auto v) { return activation_row::gelu(v); });
        case Activation::gelu_erf:
            return map([](auto v) { return activation_row::gelu_erf(v); });
        case Activation::relu:
            return map([](auto v) { return activation_row::relu(v); });
        case Activation::squared_relu:
            return map([](auto v) { return activation_row::squared_relu(v); });
        case Activation::silu:
            return map([](auto v) { return portable::silu(v); });
    }
}

}  // namespace inkling::models
