//   softcap  y = c tanh(x / c)   dx = dy (1 - (y / c)^2)
#include "engine/ops/softcap.h"

#include "engine/backward.h"
#include "engine/kernels/map.h"

namespace inkling {

template <class T>
Tensor<T> softcap(const Tensor<T>& x, double cap) {
    check_defined("softcap", x);
    check(cap > 0, "softcap: a cap above 0 is required, got {} for shape {}", cap, x.shape());
    const T c = static_cast<T>(cap), inverse = static_cast<T>(1 / cap);
    const Array<T> y = map_arrays<T>(
        x.shape(), [c, inverse](auto v) { return Vec<T>(c) * xsimd::tanh(v * Vec<T>(inverse)); }, x.value());
    return record("softcap", y, inputs(x), [y = Saved(y), inverse](const Array<T>& dy, Gradients<T>& grads) {
        const auto slope = [inverse](auto g, auto v) {
            const auto t = v * Vec<T>(inverse);
            return g * (Vec<T>(T{1}) - t * t);
        };
        grads.add(0, map_arrays<T>(dy.shape(), slope, dy, *y));
    });
}

template Tensor<float> softcap(const Tensor<float>&, double);
template Tensor<double> softcap(const Tensor<double>&, double);

}  // namespace inkling
