// Plans for machines whose speed changes, on a simulated clock.
#include "train/time_plan.h"

#include <cmath>
#include <functional>

#include "tests/catch.h"

namespace {

constexpr double kTime = 60, kFastest = 36;  // seconds, steps a second

struct Used {
    double time, plan;  // parts of the time and of the last plan that a run has used
    std::size_t replans;
};

// A run with speed(part of its time passed), relative to the fastest.
Used run(const std::function<double(double)>& speed, std::size_t planned = 2376) {
    inkling::train::TimePlan plan;
    Used used{};
    std::size_t step = 0;
    double seconds = 0;
    while (step < planned && seconds < kTime) {
        seconds += 1 / (kFastest * speed(seconds / kTime));
        if (++step == planned || seconds >= kTime) break;
        const std::size_t steps = plan.steps(step, seconds, kTime, planned);
        REQUIRE(steps > step);
        used.replans += steps != planned;
        planned = steps;
    }
    used.time = seconds / kTime;
    used.plan = static_cast<double>(step) / static_cast<double>(planned);
    return used;
}

void uses_its_time(const Used& used) {
    CHECK(used.time >= 0.97);
    CHECK(used.plan >= 0.97);  // the learning rate has come to its end
}

}  // namespace

TEST_CASE("time plan: a run ends with its time, at a steady speed, a wandering one, and with long steps", "[train]") {
    for (const double speed : {0.5, 0.75, 1.0}) {
        for (const std::size_t first : {200, 1000, 2376, 1'000'000'000}) {
            INFO(speed << ", " << first << " steps at first");
            const Used used = run([&](double) { return speed; }, first);
            uses_its_time(used);
            CHECK(used.replans <= 9);
        }
    }
    for (int change = 0; change < 100; ++change) {
        INFO("changes at " << change << "%");
        uses_its_time(run([&](double at) { return 100 * at < change ? 0.5 : 1; }));
        uses_its_time(run([&](double at) { return 100 * at < change ? 1 : 0.5; }));
    }
    for (const double period : {0.03, 0.1, 0.2, 0.5, 1.0}) {
        INFO("period " << period);
        uses_its_time(run([&](double at) { return std::fmod(at / period, 1) < 0.5 ? 0.5 : 1; }));
        uses_its_time(run([&](double at) { return 0.75 + 0.25 * std::sin(6.283185307179586 * at / period); }));
    }
    inkling::train::TimePlan plan;
    CHECK(plan.steps(1, 20, 60, 100) == 100);  // a first one says little
    CHECK(plan.steps(2, 40, 60, 100) == 4);    // 1.1 more, in whole steps
    CHECK(plan.steps(3, 60, 60, 4) == 4);      // the time is over
}
