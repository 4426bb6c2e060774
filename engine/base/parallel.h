// OpenMP loops over disjoint outputs. One thread computes each output, in one order, so results never depend on the
// number of threads, nor on which thread computes what. Small work stays on the calling thread, because a parallel
// region costs microseconds.
//   parallel_for(n, kGrain, [&](std::size_t begin, std::size_t end) { for (...) y[i] = ...; });
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/base/function_ref.h"

namespace inkling {

// The fewest elements of a light elementwise loop that are worth a thread.
inline constexpr std::size_t kGrain = 16384;

// The body of a loop; computes outputs [begin, end).
using RangeBody = FunctionRef<void(std::size_t begin, std::size_t end)>;

// The number of threads parallel_for may use: 1 inside another parallel loop.
std::size_t max_threads();

// At least a cache line of elements of any type. Threads that write to one line slow each other down (false sharing),
// and vectors across lines are slower.
inline constexpr std::size_t kLine = 32;

// Calls body(begin, end) on disjoint ranges that cover [0, n), starting at multiples of `unit`, several for each
// thread; each thread gets at least `grain` indices. Rethrows the first exception of a body.
void parallel_for(std::size_t n, std::size_t grain, std::size_t unit, RangeBody body);
inline void parallel_for(std::size_t n, std::size_t grain, RangeBody body) { parallel_for(n, grain, 1, body); }

// Calls body(begin, end) on ranges of rows of `width` elements; the grain is in elements.
void parallel_rows(std::size_t rows, std::size_t width, RangeBody body, std::size_t grain = kGrain);

// Calls body(begin, end) on pieces of at most kPiece, which stay in L1 if the body passes over several arrays more than
// once.
inline constexpr std::size_t kPiece = 1024;
void parallel_pieces(std::size_t n, RangeBody body);

// out[i] = number(i) for n elements.
template <class T, class F>
void fill_numbers(std::size_t n, std::size_t grain, T* out, const F& number) {
    parallel_for(n, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) out[i] = static_cast<T>(number(i));
    });
}

// The sum of part(begin, end) over chunks of a fixed size, added in index order: the same bits with any number of
// threads.
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
