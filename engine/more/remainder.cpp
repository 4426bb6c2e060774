//   remainder   y = a - b floor(a / b)     da = dy     db = -dy floor(a / b)
#include "engine/more/remainder.h"

#include <cmath>

#include "engine/array/broadcast.h"
#include "engine/array/map.h"
#include "engine/autograd/op_gradients.h"
#include "engine/ops/elementwise/binary.h"
#include "engine/ops/reduce/reduce.h"

namespace inkling {

template <class T>
Tensor<T> remainder(const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("remainder", a, b);
    const auto rest = [](T u, T v) {
        const T r = std::fmod(u, v);
        return r != 0 && (r < 0) != (v < 0) ? r + v : r;
    };
    const Shape shape = broadcast_shape("remainder", a.shape(), b.shape());
    Array<T> y = map_arrays<T>(shape, lanewise<T>(rest), a.value(), b.value());
    return record(
        "remainder", std::move(y), inputs(a, b),
        [rest, sa = a.shape(), a = saved_for(b, a.value()), b = Saved(b)](const Tensor<T>& dy, Gradients<T>& grads) {
            if (grads.wanted(0)) grads.add(0, sum_to(dy, sa));
            if (!grads.wanted(1)) return;
            // -floor(a / b), which is constant except for its jumps
            const auto factor = lanewise<T>([rest](T u, T v) { return -std::round((u - rest(u, v)) / v); });
            grads.add(1, sum_to(mul(dy, Tensor<T>(map_arrays<T>(dy.shape(), factor, *a, *b))), b->shape()));
        });
}

template Tensor<float> remainder(const Tensor<float>&, const Tensor<float>&);
template Tensor<double> remainder(const Tensor<double>&, const Tensor<double>&);

}  // namespace inkling
