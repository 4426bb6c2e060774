//   mse_loss                          y = (x - t)^2                               dx = 2 dy (x - t), dt = -dx
//   binary_cross_entropy_with_logits  y = (1 - t) x + max(-x, 0) + ln(1 + e^-|x|)   dx = dy (sigmoid(x) - t),
//                                                                                   dt = -dy x
#include "engine/more/loss.h"

#include "engine/array/map.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/kernels/simd.h"
#include "engine/ops/elementwise/formula.h"

namespace inkling {
namespace {

template <class T>
Tensor<T> reduced(const Tensor<T>& y, Reduction reduction) {
    return reduction == Reduction::none ? y : reduction == Reduction::sum ? sum(y) : mean(y);
}

template <class T>
void check_targets(const char* op, const Tensor<T>& x, const Tensor<T>& target) {
    check_defined(op, x, target);
    check(x.shape() == target.shape(), "{}: expected targets of the values' shape, got {} and {}", op, x.shape(),
          target.shape());
}

}  // namespace

template <class T>
Tensor<T> mse_loss(const Tensor<T>& x, const Tensor<T>& target, Reduction reduction) {
    check_targets("mse_loss", x, target);
    const Tensor<T> d = sub(x, target);
    return reduced(mul(d, d), reduction);
}

template <class T>
Tensor<T> binary_cross_entropy_with_logits(const Tensor<T>& logits, const Tensor<T>& target, Reduction reduction) {
    check_targets("binary_cross_entropy_with_logits", logits, target);
    const Vec<T> zero(T{0}), one(T{1});
    const auto loss = [=](auto x, auto t) {
        return (one - t) * x + at_least(zero, -x) + portable::log1p(portable::exp(-xsimd::abs(x)));
    };
    const auto y =
        record("binary_cross_entropy_with_logits", map_arrays<T>(logits.shape(), loss, logits.value(), target.value()),
               inputs(logits, target), [=, x = Saved(logits), t = Saved(target)](const auto& dy, Gradients<T>& grads) {
                   const auto dx = [=](auto g, auto v, auto u) { return g * (portable::sigmoid(v) - u); };
                   const auto dt = [](auto g, auto v) { return -g * v; };
                   const SavedOf<T> of_x{0, x}, of_t{1, t};
                   add_mapped(grads, 0, dy.shape(), dx, dy, of_x, of_t);
                   add_mapped(grads, 1, dy.shape(), dt, dy, of_x);
               });
    return reduced(y, reduction);
}

INKLING_BOTH_TYPES(mse_loss<T>, binary_cross_entropy_with_logits<T>);

}  // namespace inkling
