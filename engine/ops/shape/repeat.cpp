//   repeat  y = a a b b   dx: the sum over the copies of each entry
#include "engine/ops/shape/repeat.h"

#include "engine/array/broadcast.h"
#include "engine/autograd/op_gradients.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"

namespace inkling {

template <class T>
Tensor<T> repeat(const Tensor<T>& x, std::size_t times, std::ptrdiff_t axis) {
    check_defined("repeat", x);
    check(times >= 1, "repeat: at least 1 time is required, got {} for shape {}", times, x.shape());
    const std::size_t a = normalize_axis("repeat", axis, x.rank());
    if (times == 1) return x;
    Shape single = x.shape(), wide = x.shape(), result = x.shape();  // an axis for the copies after axis a
    single.insert(single.begin() + static_cast<std::ptrdiff_t>(a) + 1, 1);
    wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(a) + 1, times);
    result[a] *= times;
    return record("repeat", x.value().reshaped(single).broadcasted(wide).reshaped(result), inputs(x),
                  [shape = x.shape(), single, wide](const Tensor<T>& dy, Gradients<T>& grads) {
                      grads.add(0, reshape(sum_to(reshape(dy, wide), single), shape));
                  });
}

template Tensor<float> repeat(const Tensor<float>&, std::size_t, std::ptrdiff_t);
template Tensor<double> repeat(const Tensor<double>&, std::size_t, std::ptrdiff_t);

}  // namespace inkling
