#include "nn/linear.h"

#include <cmath>

#include "engine/fused/linear.h"
#include "nn/init.h"

namespace inkling::nn {

template <class T>
Linear<T>::Linear(Generator& random, std::size_t in, std::size_t out, bool with_bias) {
    check(in > 0 && out > 0, "Linear: sizes above 0 are required, got {} in and {} out", in, out);
    const Initial bound = Initial::uniform(1.0 / std::sqrt(static_cast<double>(in)));
    weight = parameter<T>({out, in}, bound, random);
    if (with_bias) bias = parameter<T>({out}, bound, random);
}

template <class T>
Tensor<T> Linear<T>::forward(const Tensor<T>& x) const {
    return linear(x, weight, bias);
}

template class Linear<float>;
template class Linear<double>;

}  // namespace inkling::nn
