// Views: reshape, permute, transpose and slice share their input's buffer; their gradients are views too. Joins copy:
// concatenate along an axis that the parts have, stack along a new one.
#pragma once

#include <concepts>
#include <initializer_list>
#include <vector>

#include "engine/array/axes.h"
#include "engine/autograd/tensor.h"

namespace inkling {

// Sizes, of which one may be -1 to be inferred: reshape(x, {2, -1}), expand(x, {-1, 3}).
struct OpenShape : Dims<std::ptrdiff_t> {
    OpenShape(const Shape& shape) : Dims(shape.begin(), shape.end()) {}  // NOLINT: implicit on purpose
    OpenShape(std::integral auto... sizes)                               // NOLINT
        : Dims(std::initializer_list<std::ptrdiff_t>{static_cast<std::ptrdiff_t>(sizes)...}) {}
};

template <class T>
Tensor<T> reshape(const Tensor<T>& x, const OpenShape& sizes);  // -1 is inferred
// Applies an op along an axis to a scalar, as a row of one number.
template <class T, class F>
auto as_row(const Tensor<T>& x, const F& op) {
    auto y = op(reshape(x, Shape{1}));
    if constexpr (std::is_same_v<decltype(y), Tensor<T>>)
        return reshape(y, Shape());
    else
        return decltype(y){reshape(y.values, Shape()), y.ids.reshaped(Shape())};
}
// Merges axes `first` to `last`; a scalar becomes (1,).
template <class T>
Tensor<T> flatten(const Tensor<T>& x, std::ptrdiff_t first = 0, std::ptrdiff_t last = -1);
template <class T>
Tensor<T> squeeze(const Tensor<T>& x, const Axes& axes = {});  // drops these axes of size 1; default: all of them
template <class T>
Tensor<T> unsqueeze(const Tensor<T>& x, std::ptrdiff_t axis);  // inserts an axis of size 1 before `axis`
// A broadcast view of x; -1 keeps x's size. Do not write to its value: clone() it first.
template <class T>
Tensor<T> expand(const Tensor<T>& x, const OpenShape& sizes);
// (..., n, ...) -> (..., n times, ...), each entry repeated as torch.repeat_interleave does: a b -> a a b b. times = 1
// returns x itself.
template <class T>
Tensor<T> repeat(const Tensor<T>& x, std::size_t times, std::ptrdiff_t axis);
template <class T>
Tensor<T> permute(const Tensor<T>& x, const Shape& axes);  // axis i of the result is axis axes[i] of x
template <class T>
Tensor<T> transpose(const Tensor<T>& x, std::ptrdiff_t a, std::ptrdiff_t b);
template <class T>
Tensor<T> slice(const Tensor<T>& x, std::ptrdiff_t axis, std::size_t begin, std::size_t end, std::size_t step = 1);

// The parts one after the other along an axis; their other sizes are equal.
template <class T>
Tensor<T> concatenate(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis);
template <class T>
Tensor<T> stack(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis);  // along a new axis
// Overloads for braces: concatenate({a, b}, 0).
template <class T>
Tensor<T> concatenate(std::initializer_list<Tensor<T>> parts, std::ptrdiff_t axis) {
    return concatenate(std::vector<Tensor<T>>(parts), axis);
}
template <class T>
Tensor<T> stack(std::initializer_list<Tensor<T>> parts, std::ptrdiff_t axis) {
    return stack(std::vector<Tensor<T>>(parts), axis);
}

}  // namespace inkling
