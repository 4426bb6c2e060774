#include "cli/bench_profile.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/profile.h"
#include "engine/weights/operand.h"
#include "train/optimizers/optimizer.h"

namespace inkling::cli {
namespace {

// The shortest time of several runs.
template <class F>
double best_time(const F& run) {
    double best = 1e30;
    for (int i = 0; i < 12; ++i) {
        const double start = seconds_now();
        run();
        best = std::min(best, seconds_now() - start);
    }
    return best;
}

double product_ceiling(Precision precision) {
    constexpr std::size_t n = 1536;
    const WithPrecision scope(precision);
    const Operand<float> a(Array<float>({n, n}, 0.5f)), b(Array<float>({n, n}, 0.25f));
    Array<float> c({n, n});
    return 2.0 * n * n * n / best_time([&] { product(a, b, c); });
}

double memory_ceiling() {
    const Array<float> x({std::size_t{1} << 26}, 1.0f);  // 256 MiB: more than any cache
    volatile double sink = 0;
    const double seconds = best_time([&] { sink = train::gradient_norm(x); });
    return static_cast<double>(x.size() * sizeof(float)) / seconds;
}

std::string rate(double amount, double seconds) {
    return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds / 1e9) : "";
}

}  // namespace

std::string profile_table(const std::function<void()>& step, double seconds, Precision precision) {
    rusage before{}, after{};
    const PoolStatistics pool_before = pool_statistics();
    getrusage(RUSAGE_SELF, &before);
    profile::start();
    const double start = seconds_now();
    double steps = 0;
    while (steps < 3 || seconds_now() - start < seconds) step(), ++steps;
    const double total = seconds_now() - start;
    const auto laps = profile::stop();
    getrusage(RUSAGE_SELF, &after);
    const PoolStatistics pool_after = pool_statistics();

    std::vector<std::pair<std::string, profile::Lap>> rows(laps.begin(), laps.end());
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
    std::string table = fmt::format("{:<22} {:>6} {:>10} {:>7} {:>8} {:>8}\n", "op (': backward)", "calls", "ms",
                                    "share", "GF/s", "GB/s");
    double in_laps = 0, flops = 0;
    for (const auto& [op, lap] : rows) {
        table +=
            fmt::format("{:<22} {:>6.0f} {:>10.3f} {:>6.1f}% {:>8} {:>8}\n", op, static_cast<double>(lap.calls) / steps,
                        lap.seconds / steps * 1e3, 100 * lap.seconds / total, rate(lap.flops, lap.seconds),
                        lap.flops > 0 ? "" : rate(lap.bytes, lap.seconds));
        in_laps += lap.seconds, flops += lap.flops;
    }
    const auto held = static_cast<double>(pool_after.bytes_in_use + pool_after.bytes_cached);
    const auto per_step = [steps](auto now, auto then) { return static_cast<double>(now - then) / steps; };
    table += fmt::format("{:<22} {:>6} {:>10.3f} {:>6.1f}%\n", "other", "", (total - in_laps) / steps * 1e3,
                         100 * (total - in_laps) / total);
    table += fmt::format("{:<22} {:>6} {:>10.3f} {:>6.1f}% {:>8}\n", "whole step", "", total / steps * 1e3, 100.0,
                         rate(flops, total));
    table +=
        fmt::format("this machine's peak, measured now: products {:.0f} GF/s, memory {:.1f} GB/s (caches are faster)\n",
                    product_ceiling(precision) / 1e9, memory_ceiling() / 1e9);
    table += fmt::format(
        "per step: {:.0f} buffers from the pool, {:.2f} from the system; {:.2f} page faults, {:.2f} context switches; "
        "the pool holds {:.0f} MB, at most {:.0f} MB of it were in use\n",
        per_step(pool_after.requests, pool_before.requests),
        per_step(pool_after.system_allocations, pool_before.system_allocations),
        per_step(after.ru_minflt + after.ru_majflt, before.ru_minflt + before.ru_majflt),
        per_step(after.ru_nvcsw + after.ru_nivcsw, before.ru_nvcsw + before.ru_nivcsw), held / 1048576.0,
        static_cast<double>(pool_after.peak_bytes) / 1048576.0);
    return table;
}

}  // namespace inkling::cli
