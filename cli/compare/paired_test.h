// The t-test of runs with the same seeds, which holds although it is made again after each seed:
//   const PairedTest t = paired_test(losses_of_a, losses_of_b, 10);
//   if (t.decided) ...
#pragma once

#include <cstddef>
#include <vector>

namespace inkling::cli {

inline constexpr double kSure = 0.01;          // a difference with a lower p is real
inline constexpr std::size_t kLeastSeeds = 3;  // needed for a decision

// The mean of the differences b - a, its 95% confidence interval, and p.
struct PairedTest {
    std::size_t seeds = 0;
    double mean = 0, low = 0, high = 0, p = 1;
    bool decided = false;
};

// The test after min(a.size(), b.size()) seeds, of at most `max_seeds`. There is a look after each n = 3, 4, ...
// max_seeds = N. The look at N gets half of the error, and those before it share the other half equally (alpha spending
// with Bonferroni's bound): p = c_n p_t with p_t of the t-test, c_N = 2 and c_n = 2 (N - 3) before, so the 1 / c_n add
// up to 1. For equal settings the chance that p is below x at any look is therefore at most x, however one stops. The
// interval holds in the same sense.
PairedTest paired_test(const std::vector<double>& a, const std::vector<double>& b, std::size_t max_seeds);

}  // namespace inkling::cli
