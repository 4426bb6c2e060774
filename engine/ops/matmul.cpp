//   matmul   Y = A B     dA = dY B^T     dB = A^T dY
// A gradient of a broadcast operand is summed over the batch axes that it was broadcast along.
#include "engine/ops/matmul.h"

#include "engine/backward.h"
#include "engine/broadcast.h"
#include "engine/gemm.h"

namespace inkling {
namespace {

template <class T>
Shape batch_of(const Array<T>& x) {
    return Shape(x.shape().begin(), x.shape().end() - 2);
}

// (..., M, K) with several batch axes is one tall matrix when the other operand is a single one.
template <class T>
Array<T> as_matrix(const Array<T>& x) {
    return x.reshaped({size_of(batch_of(x)) * x.dim(-2), x.dim(-1)});
}

template <class T>
Array<T> product(const Array<T>& a, const Array<T>& b) {
    Shape shape = broadcast_shape("matmul", batch_of(a), batch_of(b));
    shape.push_back(a.dim(-2));
    shape.push_back(b.dim(-1));
    Array<T> y(shape);
    if (b.rank() == 2 && a.rank() > 2) {
        Array<T> tall = as_matrix(y);
        gemm(as_matrix(a), b, tall);
    } else {
        gemm(a, b, y);
    }
    return y;
}

}  // namespace

template <class T>
Tensor<T> matmul(const Tensor<T>& a, const Tensor<T>& b) {
    check(a.rank() >= 2 && b.rank() >= 2 && a.dim(-1) == b.dim(-2),
          "matmul: (..., M, K) and (..., K, N) are required, got {} and {}", a.shape(), b.shape());
    return record("matmul", product(a.value(), b.value()), inputs(a, b),
                  [a = Saved(a), b = Saved(b)](const Array<T>& dy, Gradients<T>& grads) {
                      if (grads.wanted(0)) {
                          const Array<T> bt = b->transposed(-2, -1);
                          if (a->rank() == dy.rank() && batch_of(*a) == batch_of(dy)) {
                              auto [da, accumulate] = grads.target(0);
                              gemm(dy, bt, da, {accumulate});
                          } else {
                              grads.add(0, sum_to(product(dy, bt), a->shape()));
                          }
                      }
                      if (grads.wanted(1)) {
                          if (b->rank() == 2) {  // one product sums over rows and batches at once
                              auto [db, accumulate] = grads.target(1);
                              gemm(as_matrix(*a).transposed(0, 1), as_matrix(dy), db, {accumulate});
                          } else if (batch_of(*b) == batch_of(dy)) {
                              auto [db, accumulate] = grads.target(1);
                              gemm(a->transposed(-2, -1), dy, db, {accumulate});
                          } else {
                              grads.add(1, sum_to(product(a->transposed(-2, -1), dy), b->shape()));
                          }
                      }
                  });
}

template Tensor<float> matmul(const Tensor<float>&, const Tensor<float>&);
template Tensor<double> matmul(const Tensor<double>&, const Tensor<double>&);

}  // namespace inkling
