#include "engine/base/parallel.h"

#include <omp.h>

#include <atomic>
#include <exception>
#include <optional>

#include "engine/base/float_mode.h"

namespace inkling {
namespace {

struct Pieces {
    std::uint64_t begin, end;
};

// The remaining pieces of a thread. The thread takes them from the front; threads that are done with their own take
// from the back, so nobody waits for a thread whose processor another program uses.
class alignas(64) Share {
  public:
    void give(std::uint64_t begin, std::uint64_t end) { left_.store(begin << 32 | end, std::memory_order_relaxed); }

    std::optional<Pieces> take_half(bool front) {
        std::uint64_t left = left_.load(std::memory_order_relaxed);
        while (true) {
            const std::uint64_t begin = left >> 32, end = left & 0xFFFFFFFF;
            if (begin == end) return std::nullopt;
            const std::uint64_t half = (begin + end + (front ? 1 : 0)) / 2;
            const std::uint64_t rest = front ? half << 32 | end : begin << 32 | half;
            if (left_.compare_exchange_weak(left, rest, std::memory_order_relaxed))
                return front ? Pieces{begin, half} : Pieces{half, end};
        }
    }

  private:
    std::atomic<std::uint64_t> left_{0};  // begin and end in one word
};

}  // namespace

std::size_t max_threads() { return omp_in_parallel() ? 1 : static_cast<std::size_t>(omp_get_max_threads()); }

void parallel_for(std::size_t n, std::size_t grain, std::size_t unit, RangeBody body) {
    constexpr std::size_t kPerThread = 32, kPerGrain = 4;  // pieces
    if (n == 0) return;
    const std::size_t grains = n / std::max<std::size_t>(grain, 1), threads = std::min(grains, max_threads());
    if (threads <= 1) return body(0, n);
    const std::size_t units = (n + unit - 1) / unit;
    const std::size_t pieces = std::min({units, threads * kPerThread, grains * kPerGrain});
    std::vector<Share> shares(threads);
    for (std::size_t t = 0; t < threads; ++t) shares[t].give(pieces * t / threads, pieces * (t + 1) / threads);
    std::exception_ptr error;
    std::size_t failed_at = n;  // the begin of the range that threw the error
    const auto run = [&](Pieces taken) {
        const std::size_t begin = units * taken.begin / pieces * unit;
        try {
            body(begin, std::min(n, units * taken.end / pieces * unit));
        } catch (...) {  // an exception must not leave a parallel region: it is rethrown after the region
#pragma omp critical(inkling_parallel_error)
            if (begin < failed_at) {  // keeps the first in index order, as on one thread
                failed_at = begin;
                error = std::current_exception();
            }
        }
    };
    const FloatMode mode = FloatMode::current();
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        mode.set();
        const auto me = static_cast<std::size_t>(omp_get_thread_num());
        for (std::size_t i = 0; i < threads; ++i) {
            Share& share = shares[(me + i) % threads];
            while (const auto taken = share.take_half(i == 0)) run(*taken);
        }
    }
    if (error) std::rethrow_exception(error);
}

void parallel_rows(std::size_t rows, std::size_t width, RangeBody body, std::size_t grain) {
    parallel_for(rows, std::max<std::size_t>(1, grain / std::max<std::size_t>(width, 1)), body);
}

void parallel_pieces(std::size_t n, RangeBody body) {
    parallel_for(n, kGrain, kLine, [&](std::size_t begin, std::size_t end) {
        for (; begin < end; begin += kPiece) body(begin, std::min(end, begin + kPiece));
    });
}

}  // namespace inkling
