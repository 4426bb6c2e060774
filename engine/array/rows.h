// Loops over the rows of matrices, in parallel.
#pragma once

#include "engine/array/axes.h"
#include "engine/base/parallel.h"

namespace inkling {

// Calls row(r) for each of `rows` rows of `width` elements.
template <class Row>
void each_row(std::size_t rows, std::size_t width, const Row& row) {
    parallel_rows(rows, width, [&row](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) row(r);
    });
}

// Calls row(in, out, n, r) for row r of x, of n numbers along the last axis, and of y, which has as many rows of any
// width. Both are contiguous.
template <class T, class Row>
void each_row(const ConstArray<T>& x, Array<T>& y, const Row& row) {
    const std::size_t n = x.dim(-1), rows = x.size() / std::max<std::size_t>(n, 1);
    const std::size_t m = y.size() / std::max<std::size_t>(rows, 1);
    each_row(rows, n, [&, in = x.data(), out = y.data()](std::size_t r) { row(in + r * n, out + r * m, n, r); });
}

// The sums over rows of `width` numbers each: add(r, sums) adds row r. Rows are added in order, in chunks of a fixed
// number of rows, each by one thread, so that the bits do not depend on the number of threads.
template <class T, class Add>
Array<T> sum_of_rows(std::size_t rows, std::size_t width, std::size_t chunk, const Add& add) {
    const std::size_t chunks = (rows + chunk - 1) / chunk;
    Array<T> sums({chunks, width});
    parallel_rows(chunks, chunk * width, [&, to = sums.data()](std::size_t begin, std::size_t end) {
        std::fill(to + begin * width, to + end * width, T{0});
        for (std::size_t r = begin * chunk; r < std::min(rows, end * chunk); ++r) add(r, to + r / chunk * width);
    });
    return sum_over<T>(sums, {0});
}

}  // namespace inkling
