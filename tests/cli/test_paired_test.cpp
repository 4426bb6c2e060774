// The test behind `compare`: its p holds although it is made again after each seed.
#include "cli/compare/paired_test.h"

#include <cmath>
#include <random>

#include "tests/catch.h"

using namespace inkling;
using cli::paired_test;

namespace {

// The part of `count` comparisons that are decided at some look, where the differences are normal with this mean and
// deviation 1, and the mean number of seeds that they take.
struct Decided {
    double part = 0, seeds = 0;
};
Decided decided(std::size_t count, double mean, std::size_t max_seeds, double sure = cli::kSure) {
    std::mt19937_64 random(7);
    const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0; };
    Decided all;
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<double> a, b;
        bool found = false;
        while (!found && a.size() < max_seeds) {
            a.push_back(0);
            b.push_back(mean + std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()));
            found = a.size() >= cli::kLeastSeeds && paired_test(a, b, max_seeds).p < sure;
        }
        all.part += found / static_cast<double>(count);
        all.seeds += static_cast<double>(a.size()) / static_cast<double>(count);
    }
    return all;
}

}  // namespace

TEST_CASE("paired test: p and the interval of known differences, by scipy", "[cli]") {
    const std::vector<double> zero(4, 0.0), some = {0.01, 0.012, 0.011, 0.009};
    const auto at = [&](std::size_t max_seeds) { return paired_test(zero, some, max_seeds); };
    CHECK(at(4).mean == Approx(0.0105));
    // ttest_1samp: p = 0.000505485, times 2 (N - 3) at a look before N, times 2 at N
    CHECK(at(4).p == Approx(2 * 0.000505485).epsilon(1e-5));
    CHECK(at(10).p == Approx(14 * 0.000505485).epsilon(1e-5));
    CHECK(at(20).p == Approx(34 * 0.000505485).epsilon(1e-5));
    CHECK((at(4).decided && at(10).decided && !at(20).decided));
    // t.ppf(1 - 0.025 / 14, 3) = 8.373813
    CHECK(at(10).high - at(10).mean == Approx(8.373813 * 0.0006454972).epsilon(1e-4));
    CHECK(at(10).mean - at(10).low == Approx(at(10).high - at(10).mean));
    // more seeds than are asked for now were planned before
    CHECK(at(2).p == at(4).p);
    CHECK(paired_test({0, 0, 0}, {1, 2, 3}, 3).p == Approx(0.0741799).epsilon(1e-5));  // one look
    CHECK(paired_test({0, 0}, {1, 1.1}, 2).decided == false);
    CHECK(paired_test({1, 1, 1}, {1, 1, 1}, 10).p == 1);
    CHECK(paired_test({1, 2, 3}, {1, 2.2, 2.9}, 10).p == 1);  // never above 1
}

TEST_CASE("paired test: equal settings are seldom called different, however often one looks", "[cli]") {
    constexpr std::size_t kCount = 10'000;  // 1% has a deviation of 0.1%
    for (const std::size_t max_seeds : {3, 4, 10}) {
        INFO(max_seeds);
        CHECK(decided(kCount, 0, max_seeds).part < 0.013);
    }
    CHECK(decided(kCount, 0, 10, 0.05).part < 0.053);
    CHECK(decided(kCount, 0, 10).part > 0.005);  // and the error allowed is used
    // a difference of 2 deviations is found nearly always, one of 3 early
    CHECK(decided(1000, 2, 10).part > 0.96);
    CHECK(decided(1000, 3, 10).part > 0.995);
    CHECK(decided(1000, 3, 10).seeds < 6.7);
}
