//   squared_relu  y = r^2, r = max(x, 0)   dx = dy 2 r
#include "engine/ops/squared_relu.h"

#include "engine/kernels/kept_input.h"

namespace inkling {

template <class T>
Tensor<T> squared_relu(Tensor<T> x) {
    check_defined("squared_relu", x);
    const auto value = [](auto v) {
        const auto r = at_least(Vec<T>(T{0}), v);
        return r * r;
    };
    const auto slope = [](auto g, auto v) { return g * (Vec<T>(T{2}) * at_least(Vec<T>(T{0}), v)); };
    return activation_of_kept<T>("squared_relu", std::move(x), value, slope);
}

template Tensor<float> squared_relu(Tensor<float>);
template Tensor<double> squared_relu(Tensor<double>);

}  // namespace inkling
