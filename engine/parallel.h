// OpenMP loops over disjoint outputs. The result never depends on the number of threads: each output is computed by one
// thread, in one order. Small work stays on the calling thread, because opening a parallel region costs microseconds.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <vector>

namespace inkling {

// Elements that are worth a thread of their own in a light elementwise loop.
inline constexpr std::size_t kGrain = 16384;

// body(begin, end) over disjoint ranges that cover [0, n), at least `grain` indices each.
template <class Body>
void parallel_for(std::size_t n, std::size_t grain, const Body& body) {
    if (n == 0) return;
    const std::size_t most = n / std::max<std::size_t>(grain, 1);
    const auto threads = std::min<std::size_t>(most, static_cast<std::size_t>(omp_get_max_threads()));
    if (threads <= 1 || omp_in_parallel()) {
        body(std::size_t{0}, n);
        return;
    }
    std::exception_ptr error;
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        const auto me = static_cast<std::size_t>(omp_get_thread_num());
        const auto all = static_cast<std::size_t>(omp_get_num_threads());
        const std::size_t begin = n * me / all, end = n * (me + 1) / all;
        try {
            if (begin < end) body(begin, end);
        } catch (...) {  // an exception must not leave a parallel region: the first one is thrown again after it
#pragma omp critical(inkling_parallel_error)
            if (!error) error = std::current_exception();
        }
    }
    if (error) std::rethrow_exception(error);
}

// body(begin, end) over rows of `width` elements each; the grain is in elements.
template <class Body>
void parallel_rows(std::size_t rows, std::size_t width, const Body& body, std::size_t grain = kGrain) {
    parallel_for(rows, std::max<std::size_t>(1, grain / std::max<std::size_t>(width, 1)), body);
}

// body(begin, end) over elements in short pieces: of several arrays, they stay in the first cache while the body goes
// over them more than once.
template <class Body>
void parallel_pieces(std::size_t n, const Body& body) {
    constexpr std::size_t kPiece = 1024;
    parallel_for(n, kGrain, [&](std::size_t begin, std::size_t end) {
        for (; begin < end; begin += kPiece) body(begin, std::min(end, begin + kPiece));
    });
}

// The sum of part(begin, end) over chunks of a fixed size, added in index order: same bits with any number of threads.
template <class Sum, class Part>
Sum chunked_sum(std::size_t n, std::size_t chunk, const Part& part) {
    const std::size_t chunks = (n + chunk - 1) / chunk;
    std::vector<Sum> partial(chunks, Sum{});
    parallel_for(chunks, std::max<std::size_t>(1, kGrain / chunk), [&](std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c) partial[c] = part(c * chunk, std::min(n, (c + 1) * chunk));
    });
    Sum total{};
    for (const Sum& p : partial) total += p;
    return total;
}

}  // namespace inkling
