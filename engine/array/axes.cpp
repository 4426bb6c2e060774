#include "engine/array/axes.h"

#include <numeric>

#include "engine/array/rows.h"
#include "engine/base/both_types.h"
#include "engine/kernels/add_row.h"
#include "engine/kernels/lanes.h"

namespace inkling {
namespace {

constexpr std::size_t kChunk = 4096;  // a long row is summed in chunks of this size, for any number of threads

template <class T>
T sum_row(const T* row, std::size_t n) {
    if (n <= kChunk) return simd_sum(n, row);
    return chunked_sum<T>(n, kChunk,
                          [&](std::size_t begin, std::size_t end) { return simd_sum(end - begin, row + begin); });
}

// Sums the rows of (rows, width). Many rows are summed in chunks of a fixed number of rows, each chunk by one
// thread, most likely the thread that wrote it. With few rows, each thread sums its own columns. In both cases rows
// are added in order.
template <class T>
Array<T> sum_rows(const ConstArray<T>& x, std::size_t rows, std::size_t width) {
    constexpr std::size_t kRows = 64;
    const T* const from = x.data();
    if (rows > 2 * kRows)
        return sum_of_rows<T>(rows, width, kRows,
                              [=](std::size_t r, T* sums) { add_row(width, sums, from + r * width); });
    Array<T> y({width}, T{0});
    const std::size_t columns = std::max<std::size_t>(16, kGrain / std::max<std::size_t>(rows, 1));  // worth a thread
    parallel_for(width, columns, kLine, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = 0; r < rows; ++r) add_row(end - begin, y.data() + begin, from + r * width + begin);
    });
    return y;
}

}  // namespace

std::vector<std::size_t> sorted_axes(const char* op, const Axes& axes, std::size_t rank) {
    std::vector<std::size_t> result(axes.empty() ? rank : 0);
    std::iota(result.begin(), result.end(), 0);
    for (const auto axis : axes) result.push_back(normalize_axis(op, axis, std::max<std::size_t>(rank, 1)));
    std::sort(result.begin(), result.end());
    check(std::adjacent_find(result.begin(), result.end()) == result.end(), "{}: an axis is named twice", op);
    if (rank == 0) result.clear();
    return result;
}

Shape axes_last(std::size_t rank, const std::vector<std::size_t>& axes) {
    Shape order;
    for (std::size_t i = 0; i < rank; ++i) {
        if (!std::binary_search(axes.begin(), axes.end(), i)) order.push_back(i);
    }
    for (const std::size_t axis : axes) order.push_back(axis);
    return order;
}

Shape shape_without(const Shape& shape, const std::vector<std::size_t>& axes, bool keep_axes) {
    Shape result;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool reduced = std::binary_search(axes.begin(), axes.end(), i);
        if (!reduced || keep_axes) result.push_back(reduced ? 1 : shape[i]);
    }
    return result;
}

std::size_t count_over(const Shape& shape, const std::vector<std::size_t>& axes) {
    std::size_t n = 1;
    for (const std::size_t axis : axes) n *= shape[axis];
    return n;
}

template <class T>
ConstArray<T> rows_over(const ConstArray<T>& x, const std::vector<std::size_t>& axes) {
    const std::size_t rows = size_of(shape_without(x.shape(), axes, false));
    return x.permuted(axes_last(x.rank(), axes)).contiguous().reshaped({rows, count_over(x.shape(), axes)});
}

template <class T>
Array<T> sum_over(const ConstArray<T>& x, const std::vector<std::size_t>& axes) {
    const Shape shape = shape_without(x.shape(), axes, false);
    if (axes.empty()) return x.clone();
    if (x.is_contiguous() && x.size() > 0 && axes.size() < x.rank() &&
        axes.back() == axes.size() - 1) {  // leading axes
        return sum_rows<T>(x, x.size() / size_of(shape), size_of(shape)).reshaped(shape);
    }
    const ConstArray<T> rows = rows_over(x, axes);
    Array<T> y(shape);
    T* const to = y.data();
    const std::size_t width = rows.dim(1);
    if (rows.dim(0) == 1) {
        to[0] = sum_row(rows.data(), width);
    } else {
        each_row(rows.dim(0), width, [&](std::size_t r) { to[r] = sum_row(rows.data() + r * width, width); });
    }
    return y;
}

Shape broadcast_shape(const char* op, const Shape& a, const Shape& b) {
    const std::size_t rank = std::max(a.size(), b.size());
    Shape shape(rank);
    for (std::size_t i = 0; i < rank; ++i) {  // i counts from the right
        const std::size_t da = i < a.size() ? a[a.size() - 1 - i] : 1, db = i < b.size() ? b[b.size() - 1 - i] : 1;
        check(da == db || da == 1 || db == 1, "{}: shapes must broadcast, got {} and {}", op, a, b);
        shape[rank - 1 - i] = da == 1 ? db : da;
    }
    return shape;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
    if (from.size() > to.size()) return false;
    const std::size_t extra = to.size() - from.size();
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i] != 1 && from[i] != to[extra + i]) return false;
    }
    return true;
}

std::vector<std::size_t> broadcast_axes(const Shape& from, const Shape& to) {
    const std::size_t extra = to.size() - from.size();
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (i < extra || (from[i - extra] == 1 && to[i] != 1)) axes.push_back(i);
    }
    return axes;
}

template <class T>
Array<T> sum_to(const Array<T>& g, const Shape& shape) {
    return g.shape() == shape ? g : sum_over<T>(g, broadcast_axes(shape, g.shape())).reshaped(shape);
}

INKLING_BOTH_TYPES(rows_over<T>, sum_over<T>);
template Array<float> sum_to(const Array<float>&, const Shape&);
template Array<double> sum_to(const Array<double>&, const Shape&);

}  // namespace inkling
