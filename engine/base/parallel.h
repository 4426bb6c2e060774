// OpenMP loops over disjoint outputs. The result never depends on the number of threads: each output is computed by one
// thread, in one order. Small work stays on the calling thread, because opening a parallel region costs microseconds.
//   parallel_for(n, kGrain, [&](std::size_t begin, std::size_t end) { for (...) y[i] = ...; });
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/base/function_ref.h"

namespace inkling {

// Elements that are worth a thread of their own in a light elementwise loop.
inline constexpr std::size_t kGrain = 16384;

// The body of a loop: it computes outputs [begin, end).
using RangeBody = FunctionRef<void(std::size_t begin, std::size_t end)>;

// Into how many ranges parallel_for may cut a loop: one inside another loop.
std::size_t max_ranges();

// Elements that are no less than a cache line, whatever their type. Threads that write to the same line wait for each
// other at each write, and vectors that lie across lines are slower.
inline constexpr std::size_t kLine = 32;

// body(begin, end) over disjoint ranges that cover [0, n), at least `grain` indices each, and beginning at multiples of
// `unit`. Of the exceptions that bodies throw, the first is thrown again.
void parallel_for(std::size_t n, std::size_t grain, RangeBody body, std::size_t unit = 1);

// body(begin, end) over rows of `width` elements each; the grain is in elements.
void parallel_rows(std::size_t rows, std::size_t width, RangeBody body, std::size_t grain = kGrain);

// body(begin, end) over elements in short pieces: of several arrays, they stay in L1 while the body goes over them more
// than once.
void parallel_pieces(std::size_t n, RangeBody body);

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
