//   linear   Y = X W^T + b     dX = dY W     dW = dY^T X     db = sum of dY's rows
// The gradients are those of matmul and of the sum.
#include "engine/ops/plain/plain.h"

#include "engine/ops/elementwise/binary.h"
#include "engine/ops/matrix/matmul.h"
#include "engine/ops/shape/shape.h"

namespace inkling::plain {

template <class T>
Tensor<T> linear(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias) {
    const Tensor<T> y = matmul(x, transpose(weight, 0, 1));
    return bias.defined() ? add(y, bias) : y;
}

template Tensor<float> linear(const Tensor<float>&, const Tensor<float>&, const Tensor<float>&);
template Tensor<double> linear(const Tensor<double>&, const Tensor<double>&, const Tensor<double>&);

}  // namespace inkling::plain
