//   squared_relu  y = r^2, r = max(x, 0)   dx = dy 2 r
#include "engine/ops/squared_relu.h"

#include "engine/backward.h"
#include "engine/map.h"
#include "engine/precision.h"

namespace inkling {

template <class T>
Tensor<T> squared_relu(const Tensor<T>& x) {
    const auto forward = [](const Array<T>& in) {
        return map_arrays<T>(
            in.shape(),
            [](auto v) {
                const auto r = xsimd::max(v, Vec<T>(T{0}));
                return r * r;
            },
            in);
    };
    const Operand<T> kept = kept_input(x);
    const Tensor<T> y =
        record("squared_relu", forward(x.value()), inputs(x), [kept](const Array<T>& dy, Gradients<T>& grads) {
            const auto slope = [](auto g, auto v) { return g * (Vec<T>(T{2}) * xsimd::max(v, Vec<T>(T{0}))); };
            grads.add(0, map_arrays<T>(dy.shape(), slope, dy, kept.value()));
        });
    set_recompute<T>(y, [kept, forward] { return forward(kept.value()); });
    return y;
}

template Tensor<float> squared_relu(const Tensor<float>&);
template Tensor<double> squared_relu(const Tensor<double>&);

}  // namespace inkling
