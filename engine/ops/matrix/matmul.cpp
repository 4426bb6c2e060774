//   matmul   Y = A B     dA = dY B^T     dB = A^T dY
// The gradient of a broadcast operand is summed over the batch axes of the broadcast.
#include "engine/ops/matrix/matmul.h"

#include "engine/array/axes.h"
#include "engine/autograd/op_gradients.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"
#include "engine/weights/operand.h"

namespace inkling {
namespace {

template <class T>
Shape batch_of(const ConstArray<T>& x) {
    return Shape(x.shape().begin(), x.shape().end() - 2);
}

// Merges the batch axes of (..., M, K) into one tall matrix.
template <class T>
ConstArray<T> as_matrix(const ConstArray<T>& x) {
    return x.reshaped({size_of(batch_of(x)) * x.dim(-2), x.dim(-1)});
}

template <class T>
Array<T> multiplied(const ConstArray<T>& a, const ConstArray<T>& b, Precision precision) {
    Shape shape = broadcast_shape("matmul", batch_of(a), batch_of(b));
    shape.push_back(a.dim(-2));
    shape.push_back(b.dim(-1));
    Array<T> y(shape);
    if (b.rank() == 2 && a.rank() > 2) {
        Array<T> tall = y.reshaped({size_of(batch_of<T>(y)) * y.dim(-2), y.dim(-1)});
        product(Operand<T>(as_matrix(a), precision), Operand<T>(b, precision), tall);
    } else {
        product(Operand<T>(a, precision), Operand<T>(b, precision), y);
    }
    return y;
}

// The gradient of input i is A B, summed over the axes of its broadcast.
template <class T>
void add_product(Gradients<T>& grads, std::size_t i, const ConstArray<T>& a, const ConstArray<T>& b, const Shape& shape,
                 Precision precision) {
    if (a.rank() == b.rank() && Shape(shape.begin(), shape.end() - 2) == batch_of(a) && batch_of(a) == batch_of(b)) {
        const auto add = [&](Array<T>& sum, bool accumulate) {
            product(Operand<T>(a, precision), Operand<T>(b, precision), sum, {accumulate});
        };
        grads.accumulate_into(i, add, SumLayout::any);
    } else {
        grads.add(i, sum_to(multiplied(a, b, precision), shape));
    }
}

}  // namespace

template <class T>
Tensor<T> matmul(const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("matmul", a, b);
    check(a.rank() >= 1 && b.rank() >= 1 && a.dim(-1) == b.dim(b.rank() == 1 ? 0 : -2),
          "matmul: expected (..., M, K) and (..., K, N), got {} and {}", a.shape(), b.shape());
    if (a.rank() == 1) return squeeze(matmul(unsqueeze(a, 0), b), b.rank() == 1 ? 0 : -2);
    if (b.rank() == 1) return squeeze(matmul(a, unsqueeze(b, 1)), -1);
    const Precision precision = product_precision();
    const Saved<T> kept_a = saved_for(b, a.value()), kept_b = saved_for(a, b.value());
    auto gradient = [=, sa = a.shape(), sb = b.shape()](const Tensor<T>& dy, Gradients<T>& grads) {
        const WithPrecision scope(precision);
        const auto turned = [](const Tensor<T>& x) { return transpose(x, -2, -1); };
        if (grads.wanted(0)) grads.add(0, sum_to(matmul(dy, turned(grads.in(1, *kept_b))), sa));
        if (grads.wanted(1)) grads.add(1, sum_to(matmul(turned(grads.in(0, *kept_a)), dy), sb));
    };
    auto fast = [=, sa = a.shape(), sb = b.shape()](const Array<T>& dy, Gradients<T>& grads) {
        if (grads.wanted(0)) add_product<T>(grads, 0, dy, kept_b->transposed(-2, -1), sa, precision);
        if (grads.wanted(1) && sb.size() == 2) {  // one product sums over rows and batches at once
            add_product<T>(grads, 1, as_matrix(*kept_a).transposed(0, 1), as_matrix<T>(dy), sb, precision);
        } else if (grads.wanted(1)) {
            add_product<T>(grads, 1, kept_a->transposed(-2, -1), dy, sb, precision);
        }
    };
    return record("matmul", multiplied(a.value(), b.value(), precision), inputs(a, b), std::move(gradient),
                  std::move(fast));
}

template Tensor<float> matmul(const Tensor<float>&, const Tensor<float>&);
template Tensor<double> matmul(const Tensor<double>&, const Tensor<double>&);

}  // namespace inkling
