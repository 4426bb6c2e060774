//   squared_relu  y = r^2, r = max(x, 0)   dx = dy 2 r
#include "engine/ops/squared_relu.h"

#include "engine/backward.h"
#include "engine/kept_input.h"
#include "engine/map.h"

namespace inkling {

template <class T>
Tensor<T> squared_relu(Tensor<T> x) {
    const auto value = [](auto v) {
        const auto r = xsimd::max(v, Vec<T>(T{0}));
        return r * r;
    };
    const auto slope = [](auto g, auto v) { return g * (Vec<T>(T{2}) * xsimd::max(v, Vec<T>(T{0}))); };
    const KeptInput<T> kept(x);
    auto nodes = inputs(x);
    const Tensor<T> y =
        record("squared_relu", map_given(std::move(x), value), std::move(nodes),
               [kept, slope](const Array<T>& dy, Gradients<T>& grads) { grads.add(0, kept.map(dy, slope)); });
    set_recompute<T>(y, [kept, value] { return kept.map(value); });
    return y;
}

template Tensor<float> squared_relu(Tensor<float>);
template Tensor<double> squared_relu(Tensor<double>);

}  // namespace inkling
