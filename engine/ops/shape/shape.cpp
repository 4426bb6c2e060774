//   reshape, permute, transpose    dx = dy, viewed as x's shape
//   flatten, squeeze, unsqueeze    are reshapes
//   expand                         dx = the sum of dy over the copies
//   repeat                         is an expand along a new axis, merged with the one before
//   slice                          dx = 0 outside the slice, dy inside
//   concatenate                    each part's gradient is its slice of dy; stack concatenates along a new axis
#include "engine/ops/shape/shape.h"

#include "engine/array/axes.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/ops/reduce/reduce.h"

namespace inkling {
namespace {

// The same views of arrays.
template <class T>
Array<T> reshape(const Array<T>& x, const Shape& shape) {
    return x.reshaped(shape);
}
template <class T>
Array<T> permute(const Array<T>& x, const Shape& axes) {
    return x.permuted(axes);
}
template <class T>
Array<T> transpose(const Array<T>& x, std::ptrdiff_t a, std::ptrdiff_t b) {
    return x.transposed(a, b);
}

// y = view(x), which the caller passes. `undo` views dy as dx.
template <class T, class View, class Undo>
Tensor<T> view_of(const char* op, const Tensor<T>& x, ConstArray<T> viewed, const View& view, const Undo& undo) {
    auto gradient = [undo](const auto& dy, Gradients<T>& grads) { grads.add(0, undo(dy)); };
    const Tensor<T> y = saves_nothing(record(op, std::move(viewed), inputs(x), gradient));
    is_view(y, x, view);
    return y;
}

// Zeros of shape `whole` with x as a slice: the gradient of slice().
template <class T>
Tensor<T> unsliced(const Tensor<T>& x, const Shape& whole, std::ptrdiff_t axis, std::size_t begin, std::size_t end,
                   std::size_t step) {
    Array<T> y(whole, T{0});
    Array<T> part = y.sliced(axis, begin, end, step);
    copy_into(part, x.value());
    return saves_nothing(record("slice", y, inputs(x), [=](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add(0, slice(dy, axis, begin, end, step));
    }));
}

// Infers the open size from the number of x's elements.
Shape filled(const OpenShape& sizes, const Shape& x) {
    Shape shape(sizes.begin(), sizes.end());
    std::size_t open = sizes.size();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        check(sizes[i] >= 0 || (sizes[i] == -1 && open == sizes.size()),
              "reshape: expected sizes of at least 0, and one -1 at most, got ({}) for shape {}",
              fmt::join(sizes.begin(), sizes.end(), ", "), x);
        if (sizes[i] < 0) {
            open = i;
            shape[i] = 1;
        }
    }
    const std::size_t known = size_of(shape);
    if (open == sizes.size()) return shape;
    check(known > 0 && size_of(x) % known == 0, "reshape: the number of elements must stay {}, got ({}) from {}",
          size_of(x), fmt::join(sizes.begin(), sizes.end(), ", "), x);
    shape[open] = size_of(x) / known;
    return shape;
}

}  // namespace

template <class T>
Tensor<T> reshape(const Tensor<T>& x, const OpenShape& sizes) {
    check_defined("reshape", x);
    const Shape shape = filled(sizes, x.shape());
    ConstArray<T> y = x.value().reshaped(shape);
    if (y.same_buffer(x.value())) {
        return view_of(
            "reshape", x, std::move(y), [shape](const auto& a) { return a.reshaped(shape); },
            [old = x.shape()](const auto& dy) { return reshape(dy, old); });
    }
    return saves_nothing(
        record("reshape", std::move(y), inputs(x),
               [old = x.shape()](const Tensor<T>& dy, Gradients<T>& grads) { grads.add(0, reshape(dy, old)); }));
}

template <class T>
Tensor<T> flatten(const Tensor<T>& x, std::ptrdiff_t first, std::ptrdiff_t last) {
    check_defined("flatten", x);
    if (x.rank() == 0) return reshape(x, {1});
    const std::size_t a = normalize_axis("flatten", first, x.rank()), b = normalize_axis("flatten", last, x.rank());
    check(a <= b, "flatten: the first axis must not be behind the last, got {} and {} for shape {}", first, last,
          x.shape());
    Shape shape = x.shape();
    for (std::size_t i = a + 1; i <= b; ++i) shape[a] *= shape[i];
    std::copy(shape.begin() + b + 1, shape.end(), shape.begin() + a + 1);
    shape.resize(shape.size() - (b - a));
    return reshape(x, shape);
}

template <class T>
Tensor<T> squeeze(const Tensor<T>& x, const Axes& axes) {
    check_defined("squeeze", x);
    std::vector<std::size_t> gone;
    for (const std::size_t axis : sorted_axes("squeeze", axes, x.rank())) {
        const bool one = x.shape()[axis] == 1;
        check(one || axes.empty(), "squeeze: axis {} must have size 1, got shape {}", axis, x.shape());
        if (one) gone.push_back(axis);
    }
    return reshape(x, shape_without(x.shape(), gone, false));
}

template <class T>
Tensor<T> unsqueeze(const Tensor<T>& x, std::ptrdiff_t axis) {
    check_defined("unsqueeze", x);
    Shape shape = x.shape();
    shape.insert(shape.begin() + normalize_axis("unsqueeze", axis, x.rank() + 1), 1);
    return reshape(x, shape);
}

template <class T>
Tensor<T> expand(const Tensor<T>& x, const OpenShape& sizes) {
    check_defined("expand", x);
    Shape shape(sizes.begin(), sizes.end());
    bool fits = shape.size() >= x.rank();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) {  // i counts from the right
        std::size_t& size = shape[shape.size() - 1 - i];
        if (static_cast<std::ptrdiff_t>(size) == -1 && i < x.rank()) size = x.shape()[x.rank() - 1 - i];
        fits = static_cast<std::ptrdiff_t>(size) >= 0;
    }
    check(fits && broadcasts_to(x.shape(), shape), "expand: shape {} does not broadcast to ({})", x.shape(),
          fmt::join(sizes.begin(), sizes.end(), ", "));
    return saves_nothing(
        record("expand", x.value().broadcasted(shape), inputs(x),
               [old = x.shape()](const Tensor<T>& dy, Gradients<T>& grads) { grads.add(0, sum_to(dy, old)); }));
}

template <class T>
Tensor<T> repeat(const Tensor<T>& x, std::size_t times, std::ptrdiff_t axis) {
    check_defined("repeat", x);
    check(times >= 1, "repeat: expected at least 1 time, got {} for shape {}", times, x.shape());
    const std::size_t a = normalize_axis("repeat", axis, x.rank());
    if (times == 1) return x;
    const Tensor<T> single = unsqueeze(x, static_cast<std::ptrdiff_t>(a) + 1);
    Shape wide = single.shape(), result = x.shape();
    wide[a + 1] = times;
    result[a] *= times;
    return reshape(expand(single, wide), result);
}

template <class T>
Tensor<T> permute(const Tensor<T>& x, const Shape& given) {
    check_defined("permute", x);
    check(given.size() == x.rank(), "permute: every axis must be named once, got {} for shape {}", given, x.shape());
    Shape axes(given.size()), inverse(given.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        axes[i] = normalize_axis("permute", static_cast<std::ptrdiff_t>(given[i]), x.rank());
        inverse[axes[i]] = i;
    }
    return view_of(
        "permute", x, x.value().permuted(axes), [axes](const auto& a) { return a.permuted(axes); },
        [inverse](const auto& dy) { return permute(dy, inverse); });
}

template <class T>
Tensor<T> transpose(const Tensor<T>& x, std::ptrdiff_t a, std::ptrdiff_t b) {
    check_defined("transpose", x);
    const auto swap = [a, b](const auto& array) { return array.transposed(a, b); };
    return view_of("transpose", x, swap(x.value()), swap, [a, b](const auto& dy) { return transpose(dy, a, b); });
}

template <class T>
Tensor<T> slice(const Tensor<T>& x, std::ptrdiff_t axis, std::size_t begin, std::size_t end, std::size_t step) {
    check_defined("slice", x);
    auto gradient = [=, whole = x.shape()](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add(0, unsliced(dy, whole, axis, begin, end, step));
    };
    auto fast = [=](const Array<T>& dy, Gradients<T>& grads) {
        const auto add = [&](Array<T>& dx, bool accumulate) {
            if (!accumulate) copy_into(dx, Array<T>({}, T{0}).broadcasted(dx.shape()));
            Array<T> part = dx.sliced(axis, begin, end, step);
            add_into(part, dy);
        };
        grads.accumulate_into(0, add, SumLayout::any);
    };
    return saves_nothing(
        record("slice", x.value().sliced(axis, begin, end, step), inputs(x), std::move(gradient), std::move(fast)));
}

template <class T>
Tensor<T> concatenate(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis) {
    check(!parts.empty(), "concatenate: at least one tensor is required");
    for (const auto& part : parts) check_defined("concatenate", part);
    const std::size_t k = normalize_axis("concatenate", axis, parts[0].rank());
    Shape shape = parts[0].shape();
    shape[k] = 0;
    OpInputs<T> in;
    std::vector<std::size_t> ends;
    for (const auto& part : parts) {
        Shape expected = shape;
        if (part.rank() == shape.size()) expected[k] = part.shape()[k];
        check(part.shape() == expected, "concatenate: shapes must agree but on axis {}, got {} and {}", k,
              parts[0].shape(), part.shape());
        shape[k] += part.shape()[k];
        ends.push_back(shape[k]);
        in.add(part);
    }
    Array<T> y(shape);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Array<T> place = y.sliced(axis, i ? ends[i - 1] : 0, ends[i]);
        copy_into(place, parts[i].value());
    }
    const auto cut = [ends, axis](const Tensor<T>& dy, Gradients<T>& grads) {
        for (std::size_t i = 0; i < ends.size(); ++i) grads.add(i, slice(dy, axis, i ? ends[i - 1] : 0, ends[i]));
    };
    return saves_nothing(record("concatenate", std::move(y), std::move(in), cut));
}

template <class T>
Tensor<T> stack(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis) {
    check(!parts.empty(), "stack: at least one tensor is required");
    for (const auto& part : parts) check_defined("stack", part);
    const std::size_t k = normalize_axis("stack", axis, parts[0].rank() + 1);
    std::vector<Tensor<T>> wide;
    for (const auto& part : parts) {
        check(part.shape() == parts[0].shape(), "stack: shapes must be equal, got {} and {}", parts[0].shape(),
              part.shape());
        wide.push_back(unsqueeze(part, static_cast<std::ptrdiff_t>(k)));
    }
    return concatenate(wide, static_cast<std::ptrdiff_t>(k));
}

INKLING_BOTH_TYPES(inkling::reshape<T>, flatten<T>, squeeze<T>, unsqueeze<T>, expand<T>, repeat<T>, inkling::permute<T>,
                   inkling::transpose<T>, slice<T>);
template Tensor<float> concatenate(const std::vector<Tensor<float>>&, std::ptrdiff_t);
template Tensor<double> concatenate(const std::vector<Tensor<double>>&, std::ptrdiff_t);
template Tensor<float> stack(const std::vector<Tensor<float>>&, std::ptrdiff_t);
template Tensor<double> stack(const std::vector<Tensor<double>>&, std::ptrdiff_t);

}  // namespace inkling
