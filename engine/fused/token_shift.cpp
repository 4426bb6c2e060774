//   token_shift   y_t = x_t + w x_(t-1)     dx_t = dy_t + w dy_(t+1)     dw = sum over t of dy_t x_(t-1)
#include "engine/fused/token_shift.h"

#include "engine/array/rows.h"
#include "engine/autograd/op_gradients.h"
#include "engine/kernels/add_row.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

constexpr std::size_t kRows = 32;  // in a chunk of dw's sum

struct Rows {
    std::size_t count, length, width;
    IdArray positions;  // a contiguous copy; undefined: the rows' own

    bool has_before(std::size_t r) const {
        return r < count && r % length > 0 && (!positions.defined() || positions.data()[r] > 0);
    }
};

// y_r (+)= x_r + w x_(r + step) where `other` says that there is such a row.
template <class T, class Other>
void add_neighbour(const Rows& rows, const T* x, const T* w, T* y, std::ptrdiff_t step, bool accumulate,
                   const Other& other) {
    const std::size_t n = rows.width;
    each_row(rows.count, n, [&](std::size_t r) {
        const T* const in = x + r * n;
        T* const out = y + r * n;
        if (accumulate) {
            add_row(n, out, in);
        } else {
            std::copy_n(in, n, out);
        }
        if (other(r)) add_product_row(n, out, in + step * static_cast<std::ptrdiff_t>(n), w);
    });
}

template <class T>
Array<T> weight_gradient(const Rows& rows, const T* x, const T* dy) {
    const std::size_t n = rows.width;
    return sum_of_rows<T>(rows.count, n, kRows, [&](std::size_t r, T* sums) {
        if (rows.has_before(r)) add_product_row(n, sums, dy + r * n, x + r * n - n);
    });
}

template <class T>
Tensor<T> composed(const Tensor<T>& x, const Tensor<T>& w, const Rows& rows) {
    Shape shape = x.shape();
    shape.back() = 1;
    Array<T> mask(shape);
    for (std::size_t r = 0; r < rows.count; ++r) mask.data()[r] = rows.has_before(r) ? T{1} : T{0};
    const Tensor<T> before = concatenate<T>({slice(x, -2, 0, 1), slice(x, -2, 0, rows.length - 1)}, -2);
    return x + before * mask * w;
}

}  // namespace

template <class T>
Tensor<T> token_shift(const Tensor<T>& x, const Tensor<T>& w, const IdArray& positions) {
    check_defined("token_shift", x, w);
    check(x.rank() >= 2 && w.shape() == Shape{x.dim(-1)},
          "token_shift: expected x (..., L, C) and w (C), got {} and {}", x.shape(), w.shape());
    check(!positions.defined() || positions.shape() == Shape(x.shape().begin(), x.shape().end() - 1),
          "token_shift: expected positions (..., L) of x (..., L, C), got {} for {}", positions.shape(), x.shape());
    const std::size_t n = x.dim(-1);
    const Rows rows{n ? x.size() / n : 0, x.dim(-2), n, positions.defined() ? positions.clone() : IdArray()};
    const ConstArray<T> in = x.value().contiguous(), share = w.value().contiguous();
    Array<T> y(x.shape());
    add_neighbour(rows, in.data(), share.data(), y.data(), -1, false,
                  [&](std::size_t r) { return rows.has_before(r); });
    auto gradient = [rows, in = Saved(in), share = Saved(share)](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add_through(dy, [&] { return composed(grads.in(0, *in), grads.in(1, *share), rows); });
    };
    auto fast = [rows, in = Saved(in), share = Saved(share)](const Array<T>& dy_any, Gradients<T>& grads) {
        const Array<T> dy = dy_any.contiguous();
        if (grads.wanted(0)) {
            grads.accumulate_into(0, [&](Array<T>& dx, bool accumulate) {
                add_neighbour(rows, dy.data(), share->data(), dx.data(), 1, accumulate,
                              [&](std::size_t r) { return rows.has_before(r + 1); });
            });
        }
        if (grads.wanted(1)) grads.add(1, weight_gradient(rows, in->data(), dy.data()));
    };
    return record("token_shift", std::move(y), inputs(x, w), std::move(gradient), std::move(fast));
}

template Tensor<float> token_shift(const Tensor<float>&, const Tensor<float>&, const IdArray&);
template Tensor<double> token_shift(const Tensor<double>&, const Tensor<double>&, const IdArray&);

}  // namespace inkling
