#include "nn/checkpoint.h"

#include "engine/autograd/backward.h"
#include "engine/base/precision.h"

namespace inkling::nn {

template <class T>
using Step = std::function<Tensor<T>(const Tensor<T>& x, Generator* random)>;

template <class T>
Tensor<T> checkpoint(const Step<T>& f, const Tensor<T>& x, Generator* random) {
    if (!x.requires_grad() || NoGrad::active()) return f(x, random);
    const Generator before = random ? *random : Generator();
    const Precision precision = product_precision();
    ConstArray<T> y;
    {
        const NoGrad scope;
        y = f(x.detach(), random).value();
    }
    return record(
        "checkpoint", std::move(y), inputs(x),
        [f, before, random = random != nullptr, precision, x = Saved(x)](const Array<T>& dy, Gradients<T>& grads) {
            const WithPrecision scope(precision);
            Generator again = before;
            const Tensor<T> leaf(*x, true);
            backward(f(leaf, random ? &again : nullptr), dy);  // parameters get their gradients here
            grads.add(0, leaf.grad());
        });
}

template Tensor<float> checkpoint(const Step<float>&, const Tensor<float>&, Generator*);
template Tensor<double> checkpoint(const Step<double>&, const Tensor<double>&, Generator*);

}  // namespace inkling::nn
