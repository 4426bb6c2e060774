// More elementary functions, and functions composed of other ops.
#pragma once

#include <cmath>

#include "engine/array/axes.h"
#include "engine/ops/elementwise/activation.h"
#include "engine/ops/elementwise/binary.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/unary.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"

namespace inkling {

template <class T>
Tensor<T> exp2(const Tensor<T>& x);
template <class T>
Tensor<T> log2(const Tensor<T>& x);
template <class T>
Tensor<T> log10(const Tensor<T>& x);
template <class T>
Tensor<T> rsqrt(const Tensor<T>& x);  // x^(-1/2)
template <class T>
Tensor<T> tan(const Tensor<T>& x);
template <class T>
Tensor<T> sinh(const Tensor<T>& x);
template <class T>
Tensor<T> cosh(const Tensor<T>& x);
template <class T>
Tensor<T> asinh(const Tensor<T>& x);
template <class T>
Tensor<T> acosh(const Tensor<T>& x);
template <class T>
Tensor<T> atanh(const Tensor<T>& x);

// |x| with the sign of `from`, which counts as a constant. The gradient at 0 is 0.
template <class T>
Tensor<T> copysign(const Tensor<T>& x, const Tensor<T>& from) {
    check_defined("copysign", x, from);
    Array<T> signs = from.value().clone();
    for (T& v : signs) v = std::copysign(T{1}, v);
    return mul(abs(x), Tensor<T>(signs));
}
// a - b trunc(a / b), with a's sign, like C's fmod; shapes broadcast.
template <class T>
Tensor<T> fmod(const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("fmod", a, b);
    const Tensor<T> one = Tensor<T>::ones({}), signs = copysign(one, a);
    return mul(remainder(mul(a, signs), mul(b, copysign(one, b))), signs);
}
// Activation functions.
template <class T>
Tensor<T> logsigmoid(const Tensor<T>& x) {  // ln sigmoid(x)
    check_defined("logsigmoid", x);
    return neg(softplus(neg(x)));
}
template <class T>
Tensor<T> softsign(const Tensor<T>& x);  // x / (1 + |x|)
template <class T>
Tensor<T> mish(const Tensor<T>& x);  // x tanh(softplus(x)) (Misra 2019)
template <class T>
Tensor<T> celu(const Tensor<T>& x, double alpha = 1) {  // x, or alpha (e^(x / alpha) - 1) where x <= 0 (Barron 2017)
    check_defined("celu", x);
    return scale(elu(scale(x, 1 / alpha)), alpha);
}
template <class T>
Tensor<T> selu(const Tensor<T>& x) {  // keeps mean 0 and variance 1 (Klambauer et al. 2017)
    check_defined("selu", x);
    return scale(elu(x, 1.6732632423543772), 1.0507009873554805);
}
template <class T>
Tensor<T> hardsigmoid(const Tensor<T>& x) {  // x / 6 + 1/2, between 0 and 1
    check_defined("hardsigmoid", x);
    return scale(clamp(affine(x, 1, 3), 0, 6), 1.0 / 6);
}
template <class T>
Tensor<T> hardswish(const Tensor<T>& x) {  // x hardsigmoid(x) (Howard et al. 2019)
    check_defined("hardswish", x);
    return mul(x, hardsigmoid(x));
}

// ln(e^a + e^b), without overflow; shapes broadcast.
template <class T>
Tensor<T> logaddexp(const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("logaddexp", a, b);
    const Shape shape = broadcast_shape("logaddexp", a.shape(), b.shape());
    return logsumexp(stack({expand(a, shape), expand(b, shape)}, 0), 0);
}

}  // namespace inkling
