//   softmax      y_i = e^(x_i - m) / sum_j e^(x_j - m), m = max_j x_j    dx_i = y_i (dy_i - sum_j y_j dy_j)
//   log_softmax  y_i = x_i - m - ln sum_j e^(x_j - m)                    dx_i = dy_i - e^y_i sum_j dy_j
// Subtracting the maximum m keeps exp() from overflowing. log_softmax subtracts it before the logarithm: the digits of
// the logarithm would be lost in a large m.
#include "engine/ops/reduce/softmax.h"

#include <cmath>

#include "engine/array/rows.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/kernels/lanes.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

template <class T>
T row_maximum(const char* op, const T* x, std::size_t n) {
    const T m = simd_max(n, x);
    check(m != -std::numeric_limits<T>::infinity() || has_nan(n, x),
          "{}: a row must have a value above -inf: every place of one is masked", op);
    return m;
}

// out = e^(in - m) / sum e^(in - m); out may be in.
template <class T>
void softmax_row(const T* in, T top, T* out, std::size_t n) {
    const Vec<T> m(top);
    simd_map(n, out, {in}, [m](auto v) { return portable::exp(v - m); });
    const Vec<T> inverse(T{1} / simd_sum(n, out));
    simd_map(n, out, {out}, [inverse](auto e) { return e * inverse; });
}

// Applies the op along the last axis of x; another axis is moved to the end and back.
template <class T, class Op>
Tensor<T> along(const char* op, const Tensor<T>& x, std::ptrdiff_t axis, const Op& last_axis) {
    check_defined(op, x);
    if (x.rank() == 0) return as_row(x, [&](const Tensor<T>& row) { return along(op, row, axis, last_axis); });
    const std::size_t k = normalize_axis(op, axis, x.rank());
    check(x.shape()[k] > 0, "{}: the axis must not be empty, got shape {}", op, x.shape());
    if (k + 1 == x.rank()) return last_axis(x);
    return transpose(last_axis(transpose(x, axis, -1)), axis, -1);
}

// A mask broadcast to scores (B, ..., Lq, Lk). It keeps a copy with a whole last axis; the other axes stay broadcast.
class MaskRows {
  public:
    MaskRows() = default;  // blocks nothing
    MaskRows(const MaskArray& allowed, const Shape& shape) {
        if (!allowed.defined()) return;
        Shape whole = allowed.shape();
        if (whole.empty()) whole.push_back(1);
        whole.back() = shape.back();
        mask = allowed.broadcasted(whole).clone();
        mask_ = mask.broadcasted(shape);
    }
    MaskArray mask;
    bool defined() const { return mask_.defined(); }
    const std::uint8_t* row(std::size_t r) const {
        return mask_.data() + offset_of(r, mask_.shape(), mask_.strides(), mask_.rank() - 1);
    }

  private:
    ConstArray<std::uint8_t> mask_;
};

// Row r of scores (B, ..., Lq, Lk), for messages.
std::string query_of(const Shape& shape, std::size_t r) {
    if (shape.size() < 2) return "a query";
    const std::size_t queries = shape[shape.size() - 2];
    const std::size_t rows = size_of(shape) / shape.back();  // rows of all sequences
    std::string text = fmt::format("query {}", r % queries);
    if (shape.size() > 2) text += fmt::format(" of batch {}", r / (rows / shape[0]));
    return text;
}

// Records y = softmax(x) of rows. The gradient is 0 wherever the mask blocks, also in a row that it blocks entirely.
template <class T>
Tensor<T> record_softmax(const Tensor<T>& x, const Array<T>& y, const MaskRows& keep) {
    auto gradient = [y = Saved(y), keep](const Tensor<T>& dy, Gradients<T>& grads) {
        const Tensor<T> p = grads.out(*y), dx = p * (dy - sum(p * dy, -1, true));
        grads.add(0, keep.defined() ? where(keep.mask, dx, 0) : dx);
    };
    auto fast = [y = Saved(y), keep](const Array<T>& dy, Gradients<T>& grads) {
        Array<T> dx = dy.clone();
        each_row(*y, dx, [&](const T* p, T* d, std::size_t n, std::size_t r) {
            const Vec<T> dot(simd_dot(n, p, d));
            simd_map(n, d, {p, d}, [dot](auto a, auto g) { return a * (g - dot); });
            const std::uint8_t* const seen = keep.defined() ? keep.row(r) : nullptr;
            for (std::size_t j = 0; seen && j < n; ++j) d[j] = seen[j] ? d[j] : T{0};
        });
        grads.add(0, dx);
    };
    return record("softmax", y, inputs(x), std::move(gradient), std::move(fast));
}

}  // namespace

template <class T>
Tensor<T> softmax(const Tensor<T>& x, std::ptrdiff_t axis) {
    return along("softmax", x, axis, [](const Tensor<T>& rows) {
        Array<T> y(rows.shape());
        each_row(rows.value().contiguous(), y, [](const T* in, T* out, std::size_t n, std::size_t) {
            softmax_row(in, row_maximum("softmax", in, n), out, n);
        });
        return record_softmax(rows, y, {});
    });
}

template <class T>
Tensor<T> softmax(const Tensor<T>& x, const MaskArray& allowed, Masked all_masked, const char* op) {
    check_defined(op, x);
    check(x.rank() > 0 && x.dim(-1) > 0, "{}: the last axis must not be empty, got shape {}", op, x.shape());
    check(!allowed.defined() || broadcasts_to(allowed.shape(), x.shape()),
          "{}: the mask must broadcast to the scores {}, got {}", op, x.shape(), allowed.shape());
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const MaskRows keep(allowed, x.shape());
    Array<T> y(x.shape());
    each_row(x.value().contiguous(), y, [&](const T* in, T* out, std::size_t n, std::size_t r) {
        if (!keep.defined()) return softmax_row(in, simd_max(n, in), out, n);
        const std::uint8_t* const seen = keep.row(r);
        for (std::size_t j = 0; j < n; ++j) out[j] = seen[j] ? in[j] : -infinity;
        const T top = simd_max(n, out);
        if (top == -infinity && std::all_of(seen, seen + n, [](std::uint8_t flag) { return flag == 0; })) {
            check(all_masked != Masked::error, "{}: {} may see no key: every place is masked", op,
                  query_of(x.shape(), r));
            std::fill_n(out, n, all_masked == Masked::uniform ? T{1} / static_cast<T>(n) : T{0});
        } else {
            softmax_row(out, top, out, n);
        }
    });
    return record_softmax(x, y, keep);
}

template <class T>
Tensor<T> log_softmax(const Tensor<T>& x, std::ptrdiff_t axis) {
    return along("log_softmax", x, axis, [](const Tensor<T>& rows) {
        Array<T> y(rows.shape());
        each_row(rows.value().contiguous(), y, [](const T* in, T* out, std::size_t n, std::size_t) {
            const T m = row_maximum("log_softmax", in, n);
            const Vec<T> vm(m);
            const Vec<T> log_sum(
                portable::log(simd_sum(n, {in}, [vm](auto sum, auto v) { return sum + portable::exp(v - vm); })));
            simd_map(n, out, {in}, [vm, log_sum](auto v) { return (v - vm) - log_sum; });
        });
        auto gradient = [y = Saved(y)](const Tensor<T>& dy, Gradients<T>& grads) {
            grads.add(0, dy - exp(grads.out(*y)) * sum(dy, -1, true));
        };
        auto fast = [y = Saved(y)](const Array<T>& dy, Gradients<T>& grads) {
            Array<T> dx = dy.clone();
            each_row(*y, dx, [](const T* l, T* d, std::size_t n, std::size_t) {
                const Vec<T> total(simd_sum(n, d));
                simd_map(n, d, {l, d}, [total](auto a, auto g) { return g - portable::exp(a) * total; });
            });
            grads.add(0, dx);
        };
        return record("log_softmax", y, inputs(rows), std::move(gradient), std::move(fast));
    });
}

INKLING_BOTH_TYPES(log_softmax<T>);
template Tensor<float> softmax(const Tensor<float>&, std::ptrdiff_t);
template Tensor<double> softmax(const Tensor<double>&, std::ptrdiff_t);
template Tensor<float> softmax(const Tensor<float>&, const MaskArray&, Masked, const char*);
template Tensor<double> softmax(const Tensor<double>&, const MaskArray&, Masked, const char*);

}  // namespace inkling
