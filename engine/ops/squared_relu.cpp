//   squared_relu  y = r^2, r = max(x, 0)   dx = dy 2 r
#include "engine/ops/squared_relu.h"

#include "engine/backward.h"
#include "engine/map.h"

namespace inkling {

template <class T>
Tensor<T> squared_relu(const Tensor<T>& x) {
    const auto forward = [x = Saved(x)] {
        return map_arrays<T>(
            x->shape(),
            [](auto v) {
                const auto r = xsimd::max(v, Vec<T>(T{0}));
                return r * r;
            },
            *x);
    };
    const Tensor<T> y =
        record("squared_relu", forward(), inputs(x), [x = Saved(x)](const Array<T>& dy, Gradients<T>& grads) {
            const auto slope = [](auto g, auto v) { return g * (Vec<T>(T{2}) * xsimd::max(v, Vec<T>(T{0}))); };
            grads.add(0, map_arrays<T>(dy.shape(), slope, dy, *x));
        });
    set_recompute<T>(y, forward);
    return y;
}

template Tensor<float> squared_relu(const Tensor<float>&);
template Tensor<double> squared_relu(const Tensor<double>&);

}  // namespace inkling
