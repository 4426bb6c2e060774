//   where         da = dy where the mask is true    db = dy where it is false
//   masked_fill, tril, triu are wheres
#include "engine/ops/elementwise/mask.h"

#include "engine/array/axes.h"
#include "engine/array/strided.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/ops/reduce/reduce.h"

namespace inkling {
namespace {

// mask ? a : b; everything broadcasts to `shape`.
template <class T>
Array<T> choose(const Shape& shape, const MaskArray& mask, const ConstArray<T>& a, const ConstArray<T>& b) {
    Array<T> y(shape);
    const ConstArray<std::uint8_t> m = mask.broadcasted(shape);
    const ConstArray<T> wide_a = a.broadcasted(shape), wide_b = b.broadcasted(shape);
    StridedLoop(shape, {&y.strides(), &m.strides(), &wide_a.strides(), &wide_b.strides()})
        .run([&](const auto& offsets, std::size_t n, const auto& steps) {
            T* to = y.data() + offsets[0];
            const std::uint8_t* flag = m.data() + offsets[1];
            const T *u = wide_a.data() + offsets[2], *v = wide_b.data() + offsets[3];
            for (std::size_t i = 0; i < n; ++i, flag += steps[1], u += steps[2], v += steps[3]) {
                to[static_cast<std::ptrdiff_t>(i) * steps[0]] = *flag ? *u : *v;
            }
        });
    return y;
}

// dy where the mask is `kept`, else 0
template <class T>
Array<T> only(const MaskArray& mask, bool kept, const Array<T>& dy) {
    const Array<T> zero(Shape{}, T{0});
    return choose<T>(dy.shape(), mask, kept ? dy : zero, kept ? zero : dy);
}
template <class T>
Tensor<T> only(const MaskArray& mask, bool kept, const Tensor<T>& dy) {
    return kept ? where(mask, dy, 0) : where(mask, 0, dy);
}

template <class T>
Tensor<T> triangle(const char* op, const Tensor<T>& x, std::ptrdiff_t k, bool lower) {
    check_defined(op, x);
    check(x.rank() >= 2, "{}: expected at least two axes, got shape {}", op, x.shape());
    MaskArray keep({x.dim(-2), x.dim(-1)});
    std::uint8_t* flag = keep.data();
    for (std::size_t i = 0; i < x.dim(-2); ++i) {
        for (std::size_t j = 0; j < x.dim(-1); ++j) {
            const auto diagonal = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
            *flag++ = lower ? diagonal <= k : diagonal >= k;
        }
    }
    return where(keep, x, Tensor<T>::full({}, T{0}));
}

}  // namespace

template <class T>
Tensor<T> where(const MaskArray& given, const Tensor<T>& a, const Tensor<T>& b) {
    check_defined("where", a, b);
    check(given.defined(), "where: expected a mask, got an undefined one");
    const Shape shape = broadcast_shape("where", given.shape(), broadcast_shape("where", a.shape(), b.shape()));
    const MaskArray mask = given.clone();  // the caller may write to its own before backward
    return record("where", choose<T>(shape, mask, a.value(), b.value()), inputs(a, b),
                  [mask, sa = a.shape(), sb = b.shape()](const auto& dy, Gradients<T>& grads) {
                      if (grads.wanted(0)) grads.add(0, sum_to(only(mask, true, dy), sa));
                      if (grads.wanted(1)) grads.add(1, sum_to(only(mask, false, dy), sb));
                  });
}

template <class T>
Tensor<T> masked_fill(const Tensor<T>& x, const MaskArray& given, double value) {
    check_defined("masked_fill", x);
    check(given.defined(), "masked_fill: expected a mask, got an undefined one");
    check(broadcast_shape("masked_fill", x.shape(), given.shape()) == x.shape(),
          "masked_fill: the mask must broadcast to the values, got {} for {}", given.shape(), x.shape());
    return where(given, Tensor<T>::full({}, static_cast<T>(value)), x);
}

template <class T>
Tensor<T> tril(const Tensor<T>& x, std::ptrdiff_t k) {
    return triangle("tril", x, k, true);
}

template <class T>
Tensor<T> triu(const Tensor<T>& x, std::ptrdiff_t k) {
    return triangle("triu", x, k, false);
}

MaskArray causal_mask(std::size_t rows, std::size_t columns) {
    check(rows <= columns, "causal_mask: a query must have a key of its own, got {} queries for {} keys", rows,
          columns);
    MaskArray mask({rows, columns});
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) mask.data()[i * columns + j] = j > i + (columns - rows);
    }
    return mask;
}

INKLING_BOTH_TYPES(masked_fill<T>, tril<T>, triu<T>);
template Tensor<float> where(const MaskArray&, const Tensor<float>&, const Tensor<float>&);
template Tensor<double> where(const MaskArray&, const Tensor<double>&, const Tensor<double>&);

}  // namespace inkling
