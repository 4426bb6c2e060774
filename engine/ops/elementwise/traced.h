// One formula for both kinds of gradient. A backward states it once, as a lambda of vectors. It runs on rows of numbers
// or, if gradients must have a graph, on tensors as Traced<T>.
//   const auto dx = [](auto dy, auto y) { return dy * (Vec<T>(T{1}) - y * y); };
//   dx(Traced<T>(dy), Traced<T>(grads.out(*y))).tensor     // a vector among the operands is a constant
// A formula for both calls functions of vectors without their namespace.
#pragma once

#include "engine/array/broadcast.h"
#include "engine/array/map.h"
#include "engine/autograd/op_gradients.h"
#include "engine/kernels/simd.h"
#include "engine/ops/elementwise/activation.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"

namespace inkling {

template <class T>
struct Traced {
    using value_type = T;

    Traced() = default;
    explicit Traced(Tensor<T> x) : tensor(std::move(x)) {}
    explicit Traced(T number) : Traced(Tensor<T>::full({}, number)) {}
    Traced(const Vec<T>& constant) : Traced(constant.get(0)) {}  // NOLINT: implicit on purpose

    Tensor<T> tensor;

    friend Traced operator+(const Traced& a, const Traced& b) { return Traced(add(a.tensor, b.tensor)); }
    friend Traced operator-(const Traced& a, const Traced& b) { return Traced(sub(a.tensor, b.tensor)); }
    friend Traced operator*(const Traced& a, const Traced& b) { return Traced(mul(a.tensor, b.tensor)); }
    friend Traced operator/(const Traced& a, const Traced& b) { return Traced(div(a.tensor, b.tensor)); }
    friend Traced operator-(const Traced& x) { return Traced(neg(x.tensor)); }
    friend Traced multiply_add(const Traced& a, const Traced& b, const Traced& c) { return a * b + c; }
    friend Traced sqrt(const Traced& x) { return Traced(inkling::sqrt(x.tensor)); }
    friend Traced min(const Traced& a, const Traced& b) { return Traced(minimum(a.tensor, b.tensor)); }
    friend Traced max(const Traced& a, const Traced& b) { return Traced(maximum(a.tensor, b.tensor)); }
    friend Traced at_least(const Traced& bound, const Traced& x) { return max(bound, x); }
    friend Traced sigmoid(const Traced& x) { return Traced(inkling::sigmoid(x.tensor)); }

    friend MaskArray operator<(const Traced& a, const Traced& b) {
        return xt::less(a.tensor.value(), b.tensor.value());
    }
    friend MaskArray operator>(const Traced& a, const Traced& b) { return b < a; }
    friend MaskArray operator<=(const Traced& a, const Traced& b) {
        return xt::less_equal(a.tensor.value(), b.tensor.value());
    }
    friend MaskArray operator==(const Traced& a, const Traced& b) {
        return xt::equal(a.tensor.value(), b.tensor.value());
    }
    friend Traced select(const MaskArray& mask, const Traced& a, const Traced& b) {
        return Traced(where(mask, a.tensor, b.tensor));
    }
};

namespace portable {
template <class T>
Traced<T> exp(const Traced<T>& x) {
    return Traced<T>(inkling::exp(x.tensor));
}
template <class T>
Traced<T> sigmoid(const Traced<T>& x) {
    return Traced<T>(inkling::sigmoid(x.tensor));
}
}  // namespace portable

// A value that an op saved, and the input that it belongs to; kOutput: the output.
inline constexpr std::size_t kOutput = static_cast<std::size_t>(-1);
template <class T>
struct SavedOf {
    std::size_t input;
    const Saved<T>& saved;

    const ConstArray<T>& operator*() const { return *saved; }
    Traced<T> traced(const Gradients<T>& grads) const {
        return Traced<T>(input == kOutput ? grads.out(*saved) : grads.in(input, *saved));
    }
};

// f(dy, saved...) of arrays, and of tensors.
template <class T, class F, class... Of>
Array<T> mapped_gradient(const Gradients<T>&, const F& f, const Array<T>& dy, const SavedOf<Of>&... saved) {
    return map_arrays<T>(dy.shape(), f, dy, *saved...);
}
template <class T, class F, class... Of>
Tensor<T> mapped_gradient(const Gradients<T>& grads, const F& f, const Tensor<T>& dy, const SavedOf<Of>&... saved) {
    return expand(f(Traced<T>(dy), saved.traced(grads)...).tensor, dy.shape());
}

// Adds f(dy, saved...), summed to the input's shape, as the gradient of input i. Computes nothing if it is not wanted.
template <class T, class F, class Dy, class... Of>
void add_mapped(Gradients<T>& grads, std::size_t i, const Shape& input, const F& f, const Dy& dy,
                const SavedOf<Of>&... saved) {
    if (grads.wanted(i)) grads.add(i, sum_to(mapped_gradient(grads, f, dy, saved...), input));
}

}  // namespace inkling
