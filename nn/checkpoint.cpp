#include "nn/checkpoint.h"

#include "engine/backward.h"
#include "engine/precision.h"
#include "nn/init.h"

namespace inkling::nn {

template <class T>
Tensor<T> checkpoint(const std::function<Tensor<T>(const Tensor<T>&)>& f, const Tensor<T>& x) {
    if (!x.requires_grad() || NoGrad::active()) return f(x);
    const Generator before = default_generator();
    const Precision precision = product_precision();
    ConstArray<T> y;
    {
        const NoGrad scope;
        y = f(x.detach()).value();
    }
    return record("checkpoint", std::move(y), inputs(x),
                  [f, before, precision, x = Saved(x)](const Array<T>& dy, Gradients<T>& grads) {
                      const Generator now = default_generator();
                      default_generator() = before;
                      const WithPrecision scope(precision);
                      const Tensor<T> again(*x, true);
                      backward(f(again), dy);  // parameters get their gradients here
                      default_generator() = now;
                      grads.add(0, again.grad());
                  });
}

template Tensor<float> checkpoint(const std::function<Tensor<float>(const Tensor<float>&)>&, const Tensor<float>&);
template Tensor<double> checkpoint(const std::function<Tensor<double>(const Tensor<double>&)>&, const Tensor<double>&);

}  // namespace inkling::nn
