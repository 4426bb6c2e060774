#include "engine/more/composed.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/both_types.h"
#include "engine/fused/split.h"
#include "engine/more/elementary.h"
#include "engine/ops/elementwise/binary.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/unary.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

// y_0 = x_0, y_i = f(y_(i-1), x_i) along an axis.
template <class T, class F>
Tensor<T> accumulated(const char* op, const Tensor<T>& x, std::ptrdiff_t axis, const F& f) {
    check_defined(op, x);
    if (x.rank() == 0) return as_row(x, [&](const Tensor<T>& row) { return accumulated(op, row, axis, f); });
    const std::size_t n = x.shape()[normalize_axis(op, axis, x.rank())];
    if (n == 0) return x;
    std::vector<Tensor<T>> all;
    for (Tensor<T>& part : split(x, n, axis)) all.push_back(all.empty() ? part : f(all.back(), part));
    return concatenate(all, axis);
}

// Applies y = pad_axis(y, axis, before, after) to each axis that has two widths, the last axis first.
template <class T, class F>
Tensor<T> padded(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& widths, const F& pad_axis) {
    check_defined("pad", x);
    check(widths.size() % 2 == 0 && widths.size() <= 2 * x.rank(),
          "pad: expected two widths for each axis, from the last on, got {} for shape {}", widths.size(), x.shape());
    Tensor<T> y = x;
    for (std::size_t i = 0; i < widths.size(); i += 2)
        y = pad_axis(y, static_cast<std::ptrdiff_t>(x.rank() - 1 - i / 2), widths[i], widths[i + 1]);
    return y;
}

}  // namespace

template <class T>
Tensor<T> pad(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& widths, double value) {
    return padded(x, widths, [&](const Tensor<T>& y, std::ptrdiff_t axis, std::ptrdiff_t before, std::ptrdiff_t after) {
        const auto n = static_cast<std::ptrdiff_t>(y.dim(axis)), begin = std::max<std::ptrdiff_t>(0, -before),
                   end = n + std::min<std::ptrdiff_t>(0, after);
        check(begin <= end, "pad: widths {} and {} cut more off axis {} than shape {} has", before, after, axis,
              x.shape());
        std::vector<Tensor<T>> parts;
        const auto add_value = [&](std::ptrdiff_t width) {
            Shape shape = y.shape();
            shape[static_cast<std::size_t>(axis)] = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, width));
            if (width > 0) parts.push_back(Tensor<T>::full(shape, static_cast<T>(value)));
        };
        add_value(before);
        parts.push_back(slice(y, axis, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)));
        add_value(after);
        return concatenate(parts, axis);
    });
}

template <class T>
Tensor<T> pad(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& widths, Padding with) {
    return padded(x, widths, [&](const Tensor<T>& y, std::ptrdiff_t axis, std::ptrdiff_t before, std::ptrdiff_t after) {
        const auto n = static_cast<std::ptrdiff_t>(y.dim(axis));
        // Circular: the elements that negative widths leave repeat.
        const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, -before),
                             left = n - first - std::max<std::ptrdiff_t>(0, -after),
                             most = with == Padding::reflect ? n - 1 : left;
        check(n > 0 && (with != Padding::circular || left > 0) && before + n + after >= 0 &&
                  (with == Padding::replicate || std::max(before, after) <= most),
              "pad: widths {} and {} are not possible along axis {} of shape {}", before, after, axis, x.shape());
        IdArray ids(Shape{static_cast<std::size_t>(before + n + after)});
        for (std::size_t j = 0; j < ids.size(); ++j) {
            std::ptrdiff_t id = static_cast<std::ptrdiff_t>(j) - before;
            if (with == Padding::replicate) id = std::clamp<std::ptrdiff_t>(id, 0, n - 1);
            if (with == Padding::circular) id = first + (id - first + left) % left;
            if (with == Padding::reflect && (id = std::abs(id)) >= n) id = 2 * (n - 1) - id;
            ids.data()[j] = static_cast<std::int32_t>(id);
        }
        return index_select(y, axis, ids);
    });
}

template <class T>
Tensor<T> flip(const Tensor<T>& x, const Axes& axes) {
    check_defined("flip", x);
    Tensor<T> y = x;
    for (const std::size_t axis : sorted_axes("flip", axes, x.rank())) {
        IdArray ids({x.shape()[axis]});
        std::iota(ids.begin(), ids.end(), 0);
        std::reverse(ids.begin(), ids.end());
        y = index_select(y, static_cast<std::ptrdiff_t>(axis), ids);
    }
    return y;
}

template <class T>
Tensor<T> roll(const Tensor<T>& x, std::ptrdiff_t shift, std::ptrdiff_t axis) {
    check_defined("roll", x);
    const auto n = static_cast<std::ptrdiff_t>(x.shape()[normalize_axis("roll", axis, x.rank())]);
    if (n == 0) return x;
    const auto first = static_cast<std::size_t>((n - shift % n) % n);
    return concatenate({slice(x, axis, first, x.dim(axis)), slice(x, axis, 0, first)}, axis);
}

template <class T>
Tensor<T> tile(const Tensor<T>& x, const Shape& times) {
    check_defined("tile", x);
    Tensor<T> y = x;
    while (y.rank() < times.size()) y = unsqueeze(y, 0);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const auto axis = static_cast<std::ptrdiff_t>(y.rank() - times.size() + i);
        y = times[i] == 0 ? slice(y, axis, 0, 0) : concatenate(std::vector<Tensor<T>>(times[i], y), axis);
    }
    return y;
}

template <class T>
Tensor<T> one_hot(const IdArray& ids, std::size_t classes) {
    check(ids.defined(), "one_hot: expected ids, got an undefined array");
    Shape shape = ids.shape();
    shape.push_back(classes);
    Array<T> y(shape, T{0});
    T* row = y.data();
    for (const std::int32_t id : ids) {
        check(id >= 0 && static_cast<std::size_t>(id) < classes,
              "one_hot: ids must be at least 0 and below {} classes, got {}", classes, id);
        row[id] = 1;
        row += classes;
    }
    return Tensor<T>(y);
}

template <class T>
Tensor<T> norm(const Tensor<T>& x, double p, const Axes& axes, bool keep_axes) {
    check_defined("norm", x);
    check(p > 0, "norm: expected a p above 0, got {}", p);
    if (p == 1) return sum(abs(x), axes, keep_axes);
    if (std::isinf(p)) return max(abs(x), axes, keep_axes);
    const auto powers = [&] {  // 0 at 0, with the gradient 0: that of |x|^p is infinite if p < 1
        const MaskArray none = xt::equal(x.value(), T{0});
        return masked_fill(pow(masked_fill(abs(x), none, 1), p), none, 0);
    };
    const Tensor<T> s = sum(p == 2 ? mul(x, x) : powers(), axes, keep_axes);
    const MaskArray zero = xt::equal(s.value(), T{0});  // the root has no gradient there
    const Tensor<T> above = masked_fill(s, zero, 1);
    return where(zero, s, p == 2 ? sqrt(above) : pow(above, 1 / p));
}

template <class T>
Tensor<T> normalize(const Tensor<T>& x, double p, std::ptrdiff_t axis, double eps) {
    check_defined("normalize", x);
    return div(x, clamp(norm(x, p, axis, true), eps));
}

template <class T>
Tensor<T> diagonal(const Tensor<T>& x, std::ptrdiff_t k, std::ptrdiff_t a, std::ptrdiff_t b) {
    check_defined("diagonal", x);
    const std::size_t rows = normalize_axis("diagonal", a, x.rank()), columns = normalize_axis("diagonal", b, x.rank());
    check(rows != columns, "diagonal: expected two axes, got {} and {} of shape {}", a, b, x.shape());
    const auto m = static_cast<std::ptrdiff_t>(x.shape()[rows]), n = static_cast<std::ptrdiff_t>(x.shape()[columns]);
    const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, -k),
                         count = std::max<std::ptrdiff_t>(0, std::min(m, n - k) - first);
    const Shape order = axes_last(x.rank(), {std::min(rows, columns), std::max(rows, columns)});
    const Tensor<T> last = permute(x, order), flat = flatten(rows < columns ? last : transpose(last, -2, -1), -2, -1);
    if (count == 0) return slice(flat, -1, 0, 0);
    const auto begin = static_cast<std::size_t>(first * (n + 1) + k), step = static_cast<std::size_t>(n + 1);
    return slice(flat, -1, begin, begin + static_cast<std::size_t>(count - 1) * step + 1, step);
}

template <class T>
IdArray argmin(const Tensor<T>& x, const Axes& axes, bool keep_axes) {
    check_defined("argmin", x);
    return argmax(neg(x.detach()), axes, keep_axes);
}

template <class T>
IdArray argsort(const Tensor<T>& x, std::ptrdiff_t axis, bool descending) {
    check_defined("argsort", x);
    return sort(x.detach(), axis, descending).ids;
}

template <class T>
Ordered<T> cummax(const Tensor<T>& x, std::ptrdiff_t axis) {
    check_defined("cummax", x);
    if (x.rank() == 0) return as_row(x, [axis](const Tensor<T>& row) { return cummax(row, axis); });
    const ConstArray<T> rows = x.value().transposed(axis, -1).contiguous();
    IdArray ids(rows.shape());
    const std::size_t n = rows.dim(-1);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const T* const row = rows.data() + at / n * n;
        const std::size_t i = at % n, best = i ? static_cast<std::size_t>(ids.data()[at - 1]) : 0;
        const bool now = row[i] >= row[best] || (std::isnan(row[i]) && !std::isnan(row[best]));
        ids.data()[at] = static_cast<std::int32_t>(now ? i : best);
    }
    ids = ids.transposed(axis, -1);
    return {gather(x, axis, ids), ids};
}

template <class T>
Ordered<T> cummin(const Tensor<T>& x, std::ptrdiff_t axis) {
    check_defined("cummin", x);
    const Ordered<T> most = cummax(neg(x), axis);
    return {neg(most.values), most.ids};
}

template <class T>
Tensor<T> logcumsumexp(const Tensor<T>& x, std::ptrdiff_t axis) {
    return accumulated("logcumsumexp", x, axis, [](const Tensor<T>& a, const Tensor<T>& b) { return logaddexp(a, b); });
}

template <class T>
Tensor<T> cumprod(const Tensor<T>& x, std::ptrdiff_t axis) {
    return accumulated("cumprod", x, axis, [](const Tensor<T>& a, const Tensor<T>& b) { return mul(a, b); });
}

INKLING_BOTH_TYPES(flip<T>, roll<T>, tile<T>, one_hot<T>, diagonal<T>, norm<T>, inkling::normalize<T>, argmin<T>,
                   argsort<T>, cummax<T>, cummin<T>, logcumsumexp<T>, cumprod<T>);
template Tensor<float> pad(const Tensor<float>&, const std::vector<std::ptrdiff_t>&, double);
template Tensor<double> pad(const Tensor<double>&, const std::vector<std::ptrdiff_t>&, double);
template Tensor<float> pad(const Tensor<float>&, const std::vector<std::ptrdiff_t>&, Padding);
template Tensor<double> pad(const Tensor<double>&, const std::vector<std::ptrdiff_t>&, Padding);

}  // namespace inkling
