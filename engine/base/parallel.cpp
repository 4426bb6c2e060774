#include "engine/base/parallel.h"

#include <omp.h>

#include <exception>

#include "engine/base/float_mode.h"

namespace inkling {

std::size_t max_ranges() { return omp_in_parallel() ? 1 : static_cast<std::size_t>(omp_get_max_threads()); }

void parallel_for(std::size_t n, std::size_t grain, RangeBody body, std::size_t unit) {
    if (n == 0) return;
    const std::size_t threads = std::min(n / std::max<std::size_t>(grain, 1), max_ranges());
    if (threads <= 1) return body(0, n);
    const std::size_t units = (n + unit - 1) / unit;
    std::exception_ptr error;
    std::size_t failed_at = n;  // the begin of the range that threw the error
    const FloatMode mode = FloatMode::current();
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        mode.set();
        const auto me = static_cast<std::size_t>(omp_get_thread_num());
        const auto all = static_cast<std::size_t>(omp_get_num_threads());
        const std::size_t begin = units * me / all * unit, end = std::min(n, units * (me + 1) / all * unit);
        try {
            if (begin < end) body(begin, end);
        } catch (...) {  // an exception must not leave a parallel region: it is rethrown after the region
#pragma omp critical(inkling_parallel_error)
            if (begin < failed_at) {  // keeps the first in index order, as on one thread
                failed_at = begin;
                error = std::current_exception();
            }
        }
    }
    if (error) std::rethrow_exception(error);
}

void parallel_rows(std::size_t rows, std::size_t width, RangeBody body, std::size_t grain) {
    parallel_for(rows, std::max<std::size_t>(1, grain / std::max<std::size_t>(width, 1)), body);
}

void parallel_pieces(std::size_t n, RangeBody body) {
    constexpr std::size_t kPiece = 1024;
    parallel_for(
        n, kGrain,
        [&](std::size_t begin, std::size_t end) {
            for (; begin < end; begin += kPiece) body(begin, std::min(end, begin + kPiece));
        },
        kLine);
}

}  // namespace inkling
