//   linear       Y = X W^T + b           dX = dY W     dW = dY^T X     db = sum of dY's rows
//   embedding    y_i = W[id_i]           dW[v] = sum of dy_i over the i with id_i = v
//   rms_norm     y = xhat gain           xhat = x r,  r = 1 / sqrt(mean(x^2) + eps)
//   layer_norm   y = xhat gain + bias    xhat = rms_norm of x - mean(x)
//                dx = r (g - mean(g) - xhat mean(g xhat)), g = dy gain    (rms_norm: without the term mean(g))
//                dgain = sum over rows of dy xhat,  dbias = sum over rows of dy
// The gradients are those of the parts.
#include "engine/ops/plain/plain.h"

#include "engine/base/both_types.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/matrix/matmul.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/select.h"
#include "engine/ops/shape/shape.h"

namespace inkling::plain {

template <class T>
Tensor<T> linear(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias) {
    const Tensor<T> y = matmul(x, transpose(weight, 0, 1));
    return bias.defined() ? add(y, bias) : y;
}

template <class T>
Tensor<T> embedding(const IdArray& ids, const Tensor<T>& weight) {
    Shape shape = ids.shape();
    shape.push_back(weight.dim(-1));
    return reshape(index_select(weight, 0, ids.reshaped({ids.size()})), shape);
}

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

INKLING_BOTH_TYPES(linear<T>, embedding<T>, rms_norm<T>, layer_norm<T>);

}  // namespace inkling::plain
