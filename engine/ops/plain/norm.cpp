//   rms_norm     y = xhat gain           xhat = x r,  r = 1 / sqrt(mean(x^2) + eps)
//   layer_norm   y = xhat gain + bias    xhat = rms_norm of x - mean(x)
// By the rules of the parts, with g = dy gain:
//   dx = r (g - mean(g) - xhat mean(g xhat))    (rms_norm: without the term mean(g))
//   dgain = sum over rows of dy xhat,  dbias = sum over rows of dy
#include "engine/ops/plain/plain.h"

#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/reduce.h"

namespace inkling::plain {

template <class T>
Tensor<T> rms_norm(const Tensor<T>& x, const Tensor<T>& gain, double eps) {
    const Tensor<T> xhat = x * pow(mean(x * x, -1, true) + eps, -0.5);
    return gain.defined() ? xhat * gain : xhat;
}

template <class T>
Tensor<T> layer_norm(const Tensor<T>& x, const Tensor<T>& gain, const Tensor<T>& bias, double eps) {
    const Tensor<T> y = rms_norm(x - mean(x, -1, true), gain, eps);
    return bias.defined() ? y + bias : y;
}

template Tensor<float> rms_norm(const Tensor<float>&, const Tensor<float>&, double);
template Tensor<double> rms_norm(const Tensor<double>&, const Tensor<double>&, double);
template Tensor<float> layer_norm(const Tensor<float>&, const Tensor<float>&, const Tensor<float>&, double);
template Tensor<double> layer_norm(const Tensor<double>&, const Tensor<double>&, const Tensor<double>&, double);

}  // namespace inkling::plain
