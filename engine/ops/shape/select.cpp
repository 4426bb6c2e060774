//   gather        y_j = x_id(j)              dx_v = sum of dy_j over the j with id(j) = v
//   index_select  is gather with the same index along all other axes
//   scatter_add   y_v = x_v + sum of s_j over the j with id(j) = v      dx = dy      ds_j = dy_id(j)
//   sort, topk    are gathers with ids from comparisons
//   x[i]          is a slice of the first axis
// One thread computes each sum, in order of j.
#include "engine/ops/shape/select.h"

#include <cmath>
#include <numeric>
#include <optional>

#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/base/parallel.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

// An index and its table, both viewed as (outer, n or length, inner) with the axis in the middle. The index may be a
// broadcast view. All ops of this file loop over an index through each(). It is a copy, because the caller may write to
// its own before backward.
struct Places {
    ConstArray<std::int32_t> index;
    Shape table, chosen;  // the shapes of the table and of the selection
    std::size_t outer = 1, n, length, inner = 1;

    Places(const char* op, const Shape& x, std::ptrdiff_t axis, const IdArray& given, bool of_axis)
        : table(x), chosen(x) {
        check(given.defined(), "{}: expected an index, got an undefined array", op);
        const IdArray ids = given.clone();
        const std::size_t k = normalize_axis(op, axis, x.size());
        chosen[k] = n = of_axis ? ids.size() : ids.rank() == x.size() ? ids.shape()[k] : 0;
        length = x[k];
        for (std::size_t i = 0; i < x.size(); ++i) (i < k ? outer : inner) *= i == k ? 1 : x[i];
        check(of_axis ? ids.rank() == 1 : ids.shape() == chosen,
              "{}: expected an index of {}, got index {} for shape {}", op,
              of_axis ? "one axis" : "the values' shape but along the axis", ids.shape(), x);
        for (const std::int32_t id : ids) {
            check(id >= 0 && static_cast<std::size_t>(id) < length, "{}: ids must be at least 0 and below {}, got {}",
                  op, length, id);
        }
        if (of_axis) {
            index = ids.reshaped({n, 1}).broadcasted({outer, n, inner});
        } else {
            index = ids.reshaped({outer, n, inner});
        }
    }

    // Calls f(at, place): element `at` of the selection is element `place` of the table; both are contiguous. Each
    // thread owns some places, and takes their elements in order.
    template <class F>
    void each(const F& f) const {
        const auto& id = index.strides();
        parallel_rows(outer * inner, n, [&](std::size_t begin, std::size_t end) {
            for (std::size_t o = begin / inner; o * inner < end; ++o) {
                const std::size_t first = std::max(begin, o * inner) - o * inner;
                const std::size_t last = std::min(end, (o + 1) * inner) - o * inner;
                for (std::size_t j = 0; j < n; ++j) {
                    const std::int32_t* const ids =
                        index.data() + static_cast<std::ptrdiff_t>(o) * id[0] + static_cast<std::ptrdiff_t>(j) * id[1];
                    for (std::size_t c = first; c < last; ++c) {
                        const auto v = static_cast<std::size_t>(ids[static_cast<std::ptrdiff_t>(c) * id[2]]);
                        f((o * n + j) * inner + c, (o * length + v) * inner + c);
                    }
                }
            }
        });
    }
};

template <class T>
Array<T> taken(const ConstArray<T>& table, const Places& places) {
    const ConstArray<T> from = table.contiguous();
    Array<T> y(places.chosen);
    places.each([in = from.data(), out = y.data()](std::size_t at, std::size_t place) { out[at] = in[place]; });
    return y;
}

template <class T>
Array<T> added(Array<T> table, const ConstArray<T>& values, const Places& places) {
    const ConstArray<T> from = values.contiguous();
    places.each([in = from.data(), out = table.data()](std::size_t at, std::size_t place) { out[place] += in[at]; });
    return table;
}

template <class T>
Tensor<T> chosen(const char* op, const Tensor<T>& x, const Places& places);

// The gradient of chosen(): adds the elements of dy to zeros.
template <class T>
Tensor<T> scattered(const char* op, const Tensor<T>& x, const Places& places) {
    return record(op, added<T>(Array<T>(places.table, T{0}), x.value(), places), inputs(x),
                  [op, places](const Tensor<T>& dy, Gradients<T>& grads) { grads.add(0, chosen(op, dy, places)); });
}

template <class T>
Tensor<T> chosen(const char* op, const Tensor<T>& x, const Places& places) {
    return record(op, taken(x.value(), places), inputs(x),
                  [op, places](const Tensor<T>& dy, Gradients<T>& grads) { grads.add(0, scattered(op, dy, places)); });
}

// Sorts elements and returns the first `most`, or all. Equal elements keep their order.
template <class T>
Ordered<T> ordered(const char* op, const Tensor<T>& x, std::optional<std::size_t> most, std::ptrdiff_t axis,
                   bool descending) {
    check_defined(op, x);
    if (x.rank() == 0) return as_row(x, [&](const Tensor<T>& row) { return ordered(op, row, most, axis, descending); });
    const std::size_t n = x.shape()[normalize_axis(op, axis, x.rank())], k = most.value_or(n);
    check(k <= n, "{}: at most {} elements are possible along axis {}, got {} of shape {}", op, n, axis, k, x.shape());
    const ConstArray<T> rows = x.value().transposed(axis, -1).contiguous();
    Shape shape = rows.shape();
    shape.back() = k;
    IdArray ids(shape);
    std::int32_t* const to = ids.data();
    parallel_rows(rows.size() / std::max<std::size_t>(n, 1), n, [&](std::size_t begin, std::size_t end) {
        std::vector<std::int32_t> order(n);
        for (std::size_t r = begin; r < end; ++r) {
            const T* const row = rows.data() + r * n;
            const auto before = [row, descending](std::int32_t i, std::int32_t j) {
                const T a = descending ? row[j] : row[i], b = descending ? row[i] : row[j];
                if (a < b || (std::isnan(b) && !std::isnan(a))) return true;
                return !(b < a || (std::isnan(a) && !std::isnan(b))) && i < j;
            };
            std::iota(order.begin(), order.end(), 0);
            const auto middle = order.begin() + static_cast<std::ptrdiff_t>(k);
            if (k < n) std::nth_element(order.begin(), middle, order.end(), before);
            std::sort(order.begin(), middle, before);
            std::copy(order.begin(), middle, to + r * k);
        }
    });
    ids = ids.transposed(axis, -1);
    return {chosen(op, x, Places(op, x.shape(), axis, ids, false)), ids};
}

}  // namespace

template <class T>
Tensor<T> gather(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index) {
    check_defined("gather", x);
    const std::size_t k = normalize_axis("gather", axis, x.rank());
    if (index.defined() && index.rank() == x.rank())
        for (std::size_t i = 0; i < x.rank(); ++i)
            if (i != k && index.shape()[i] < x.shape()[i])
                return gather(slice(x, static_cast<std::ptrdiff_t>(i), 0, index.shape()[i]), axis, index);
    return chosen("gather", x, Places("gather", x.shape(), axis, index, false));
}

template <class T>
Tensor<T> index_select(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index) {
    check_defined("index_select", x);
    return chosen("index_select", x, Places("index_select", x.shape(), axis, index, true));
}

template <class T>
Tensor<T> scatter_add(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index, const Tensor<T>& source) {
    check_defined("scatter_add", x, source);
    const Places places("scatter_add", x.shape(), axis, index, false);
    check(source.shape() == places.chosen, "scatter_add: expected a source of the index's shape, got {} and {}",
          source.shape(), index.shape());
    return record("scatter_add", added(x.value().clone(), source.value(), places), inputs(x, source),
                  [places](const Tensor<T>& dy, Gradients<T>& grads) {
                      grads.add(0, dy);
                      if (grads.wanted(1)) grads.add(1, chosen("scatter_add", dy, places));
                  });
}

template <class T>
Ordered<T> sort(const Tensor<T>& x, std::ptrdiff_t axis, bool descending) {
    return ordered("sort", x, std::nullopt, axis, descending);
}

template <class T>
Ordered<T> topk(const Tensor<T>& x, std::size_t k, std::ptrdiff_t axis) {
    return ordered<T>("topk", x, k, axis, true);
}

template <class T>
Tensor<T> Tensor<T>::operator[](std::ptrdiff_t i) const {
    check_defined("x[i]", *this);
    check<AxisError>(rank() > 0, "x[i]: a scalar has no rows");
    const auto n = static_cast<std::ptrdiff_t>(dim(0));
    check(i >= -n && i < n, "x[i]: row {} of shape {} must be between {} and {}", i, shape(), -n, n - 1);
    const auto at = static_cast<std::size_t>(i < 0 ? i + n : i);
    return squeeze(slice(*this, 0, at, at + 1), {0});
}

INKLING_BOTH_TYPES(gather<T>, index_select<T>, scatter_add<T>, sort<T>, topk<T>);
template Tensor<float> Tensor<float>::operator[](std::ptrdiff_t) const;
template Tensor<double> Tensor<double>::operator[](std::ptrdiff_t) const;

}  // namespace inkling
