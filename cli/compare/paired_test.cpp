#include "cli/compare/paired_test.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace inkling::cli {
namespace {

// c_n above.
double spent(std::size_t n, std::size_t max_seeds) {
    if (max_seeds <= kLeastSeeds) return 1;
    return n >= max_seeds ? 2 : 2 * static_cast<double>(max_seeds - kLeastSeeds);
}

}  // namespace

PairedTest paired_test(const std::vector<double>& a, const std::vector<double>& b, std::size_t max_seeds) {
    PairedTest t;
    const std::size_t n = t.seeds = std::min(a.size(), b.size());
    const double count = static_cast<double>(n), factor = spent(n, std::max(n, max_seeds));
    for (std::size_t i = 0; i < n; ++i) t.mean += (b[i] - a[i]) / count;
    t.low = t.high = t.mean;
    if (n < 2) return t;
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += (b[i] - a[i] - t.mean) * (b[i] - a[i] - t.mean);
    const double error = std::sqrt(squares / (count - 1) / count);
    const boost::math::students_t student(count - 1);
    const double width = boost::math::quantile(boost::math::complement(student, 0.025 / factor)) * error;
    t.low = t.mean - width, t.high = t.mean + width;
    if (error > 0)
        t.p = std::min(1.0, factor * 2 * boost::math::cdf(boost::math::complement(student, std::abs(t.mean) / error)));
    else
        t.p = t.mean == 0 ? 1 : 0;
    t.decided = n >= kLeastSeeds && t.p < kSure;
    return t;
}

}  // namespace inkling::cli
