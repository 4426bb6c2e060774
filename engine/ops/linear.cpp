//   linear   Y = X W^T + b     dX = dY W     dW = dY^T X     db = sum of dY's rows
// The bias is added inside the product; dX, dW go straight to where the gradients live.
#include "engine/ops/linear.h"

#include "engine/backward.h"
#include "engine/gemm.h"
#include "engine/ops/reduce.h"

namespace inkling {

template <class T>
Tensor<T> linear(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias) {
    check(x.rank() >= 1 && weight.rank() == 2 && x.dim(-1) == weight.dim(1) &&
              (!bias.defined() || bias.shape() == Shape{weight.dim(0)}),
          "linear: x (..., in), weight (out, in) and bias (out) are required, got {}, {} and {}", x.shape(),
          weight.shape(), bias.defined() ? to_string(bias.shape()) : "none");
    const std::size_t in = weight.dim(1), out = weight.dim(0);
    const std::size_t rows = size_of(Shape(x.shape().begin(), x.shape().end() - 1));
    Shape shape = x.shape();
    shape.back() = out;
    Array<T> y(shape), y2 = y.reshaped({rows, out});
    gemm(x.value().reshaped({rows, in}), weight.value().transposed(0, 1), y2, {}, bias.value().contiguous());
    return record("linear", std::move(y), inputs(x, weight, bias),
                  [x = Saved(x), w = Saved(weight), rows, in, out](const Array<T>& dy, Gradients<T>& grads) {
                      const Array<T> dy2 = dy.reshaped({rows, out});
                      if (grads.wanted(0)) {
                          auto [dx, accumulate] = grads.target(0);
                          if (dx.is_contiguous()) {
                              Array<T> dx2 = dx.reshaped({rows, in});
                              gemm(dy2, *w, dx2, {accumulate});
                          } else {  // a strided place: reshaped() would copy it
                              Array<T> dense({rows, in});
                              gemm(dy2, *w, dense);
                              accumulate ? add_into(dx, dense.reshaped(dx.shape()))
                                         : copy_into(dx, dense.reshaped(dx.shape()));
                          }
                      }
                      if (grads.wanted(1)) {
                          auto [dw, accumulate] = grads.target(1);
                          gemm(dy2.transposed(0, 1), x->reshaped({rows, in}), dw, {accumulate});
                      }
                      if (grads.wanted(2)) grads.add(2, sum_over(dy2, {0}));
                  });
}

template Tensor<float> linear(const Tensor<float>&, const Tensor<float>&, const Tensor<float>&);
template Tensor<double> linear(const Tensor<double>&, const Tensor<double>&, const Tensor<double>&);

}  // namespace inkling
