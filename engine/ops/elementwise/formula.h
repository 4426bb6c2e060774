// One formula for both forms of a gradient. An op states it once, as a lambda of `auto` operands: it runs on vectors of
// numbers and, where the gradient needs a graph, on tensors.
//   [](auto dy, auto y) { return dy * (1 - y * y); }
// A lambda of vectors alone, Vec<T>, is for a gradient that is dy times a constant: its own gradient is that constant.
#pragma once

#include "engine/array/axes.h"
#include "engine/array/map.h"
#include "engine/autograd/op_gradients.h"
#include "engine/ops/elementwise/activation.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"

namespace inkling {

// What a formula calls, for tensors.
template <class T>
Tensor<T> multiply_add(const Tensor<T>& a, const Tensor<T>& b, const std::type_identity_t<Tensor<T>>& c) {
    return a * b + c;
}
namespace portable {
template <class T>
Tensor<T> exp(const Tensor<T>& x) {
    return inkling::exp(x);
}
template <class T>
Tensor<T> sigmoid(const Tensor<T>& x) {
    return inkling::sigmoid(x);
}
}  // namespace portable

// f(dy, saved...) of tensors. A formula of vectors is dy times f(1, saved...).
template <class T, class F, class... In>
Tensor<T> formula_of_tensors(const F& f, const Tensor<T>& dy, const In&... saved) {
    if constexpr (std::is_invocable_v<const F&, const Tensor<T>&, const In&...>) {
        return expand(f(dy, saved...), dy.shape());
    } else {
        const auto factor = [&f](auto... v) { return f(Vec<T>(T{1}), v...); };
        return dy * map_arrays<T>(dy.shape(), factor, saved.value()...);
    }
}

// A value that an op saved, and the input that it belongs to; kOutput: the output.
inline constexpr std::size_t kOutput = static_cast<std::size_t>(-1);
template <class T>
struct SavedOf {
    std::size_t input;
    const Saved<T>& saved;

    const ConstArray<T>& operator*() const { return *saved; }
    Tensor<T> in(const Gradients<T>& grads) const {
        return input == kOutput ? grads.out(*saved) : grads.in(input, *saved);
    }
};

// Adds f(dy, saved...), summed to the input's shape, as the gradient of input i. Computes nothing if it is not wanted.
template <class T, class F, class Dy, class... Of>
void add_mapped(Gradients<T>& grads, std::size_t i, const Shape& input, const F& f, const Dy& dy,
                const SavedOf<Of>&... saved) {
    if (!grads.wanted(i)) return;
    if constexpr (std::is_same_v<Dy, Tensor<T>>) {
        grads.add(i, sum_to(formula_of_tensors(f, dy, saved.in(grads)...), input));
    } else {
        grads.add(i, sum_to(map_arrays<T>(dy.shape(), f, dy, *saved...), input));
    }
}

}  // namespace inkling
