#include "nn/norm.h"

#include "engine/fused/norm.h"
#include "nn/init.h"

namespace inkling::nn {

template <class T>
LayerNorm<T>::LayerNorm(std::size_t width, bool with_bias, double epsilon)
    : weight(parameter<T>({width}, T{1})), eps(epsilon) {
    if (with_bias) bias = parameter<T>({width}, T{0});
}

template <class T>
Tensor<T> LayerNorm<T>::forward(const Tensor<T>& x) const {
    return layer_norm(x, weight, bias, eps);
}

template <class T>
RMSNorm<T>::RMSNorm(std::size_t width, double epsilon) : weight(parameter<T>({width}, T{1})), eps(epsilon) {}

template <class T>
Tensor<T> RMSNorm<T>::forward(const Tensor<T>& x) const {
    return rms_norm(x, weight, eps);
}

template class LayerNorm<float>;
template class LayerNorm<double>;
template class RMSNorm<float>;
template class RMSNorm<double>;

}  // namespace inkling::nn
