// The learning rate of each step.
#include "train/step/schedule.h"

TEST_CASE("schedule: known values of each kind, a last part of any length", "[train]") {
    const Schedule s{ScheduleKind::cosine, 1e-3, 1e-4, 100, 2000};
    CHECK(s.at(0) == Approx(9.900990099009901e-06).epsilon(1e-14));
    CHECK_ALL(s.at(99) == Approx(9.9009900990099e-04).epsilon(1e-14), s.at(100) == Approx(1e-3).epsilon(1e-14));
    CHECK_ALL(s.at(1050) == Approx(5.5e-4).epsilon(1e-14), s.at(2000) == Approx(1e-4).epsilon(1e-14));
    CHECK(s.at(5'000'000) == 1e-4);
    const Schedule line{ScheduleKind::linear, 1.0, 0.2, 10, 20};  // linear and constant
    CHECK_ALL(line.at(0) == Approx(1.0 / 11), line.at(9) == Approx(10.0 / 11), line.at(10) == Approx(1.0));
    CHECK_ALL(line.at(15) == Approx(0.6), line.at(19) == Approx(0.28), line.at(20) == 0.2);
    const Schedule flat{ScheduleKind::constant, 1.0, 0.2, 2, 20};
    CHECK(flat.at(0) == Approx(1.0 / 3));
    for (const std::size_t step : {2, 19, 20, 1000}) CHECK(flat.at(step) == 1.0);
    const Schedule wsd{ScheduleKind::wsd, 1e-3, 1e-4, 100, 2000, 0.2};
    CHECK(wsd.at(0) == Approx(9.900990099009901e-06).epsilon(1e-14));
    for (const std::size_t step : {100, 1050, 1599, 1600}) CHECK(wsd.at(step) == 1e-3);
    CHECK(wsd.at(1604) == Approx(9.1e-4).epsilon(1e-14));  // 1/100 of the decay: 1/10 of the way
    CHECK(wsd.at(1700) == Approx(5.5e-4).epsilon(1e-14));  // a quarter: half of the way
    CHECK_ALL(wsd.at(1999) == Approx(1.01125704005e-4).epsilon(1e-11), wsd.at(2000) == 1e-4, wsd.at(9000) == 1e-4);
    const Schedule late{ScheduleKind::wsd, 1, 0, 10, 100, 0};
    CHECK_ALL(late.at(99) == 1, late.at(100) == 0);
    const Schedule all{ScheduleKind::wsd, 1, 0, 10, 100, 1};  // decays as soon as the warm-up ends
    CHECK_ALL(all.at(10) == 1, all.at(20) == Approx(1 - std::sqrt(1.0 / 9)));
}

TEST_CASE("schedule: rises in the warm-up of any length, never after it, and stays between the two rates", "[train]") {
    for (const auto& [kind, name] : names(ScheduleKind{}))
        for (const std::size_t warmup : {0, 1, 7}) {
            const Schedule s{kind, 1e-3, 1e-5, warmup, 50};
            INFO(name << ", warm-up " << warmup);
            for (std::size_t step = 0; step < 60; ++step) {
                const double now = s.at(step), next = s.at(step + 1);
                if (step < warmup)
                    CHECK(next > now);
                else
                    CHECK(next <= now);
                CHECK_ALL(now > 0, now <= 1e-3);
                if (step >= warmup) CHECK(now >= 1e-5);
            }
        }
    for (const std::size_t warmup : {20, 30})
        for (const auto kind : {ScheduleKind::cosine, ScheduleKind::linear, ScheduleKind::wsd}) {
            const Schedule s{kind, 1.0, 0.1, warmup, 20};
            for (std::size_t step = 0; step < 40; ++step) {
                CHECK(std::isfinite(s.at(step)));
                if (step >= warmup) CHECK(s.at(step) == 0.1);
            }
        }
}

TEST_CASE("schedule: planned again, it leads from the old plan's rate to the new plan's", "[train]") {
    Schedule s{ScheduleKind::linear, 1.0, 0.0, 0, 300};
    std::vector<inkling::train::RunPlan::Change> changes = {{100, 100}};  // it had decayed to 0
    s.changes = changes;
    CHECK_ALL(s.at(50) == Approx(0.5), s.at(99) == Approx(0.01));
    for (std::size_t i = 0; i < 10; ++i)  // a twentieth of 200 steps
        CHECK(s.at(100 + i) == Approx(static_cast<double>(i + 1) / 10 * (1 - static_cast<double>(100 + i) / 300)));
    CHECK_ALL(s.at(110) == Approx(1 - 110.0 / 300), s.at(300) == 0);
    changes = {{100, 300}};  // nothing changes
    CHECK(s.at(100) == Approx(1 - 100.0 / 300));
    // a second change, in the middle of the first one's line, starts from the current rate
    changes = {{100, 100}, {105, 300}};
    s.changes = changes, s.decay_steps = 205;
    const double found = 0.6 * (1 - 105.0 / 300);
    CHECK_ALL(s.at(99) == Approx(0.01), s.at(104) == Approx(0.5 * (1 - 104.0 / 300)));
    for (std::size_t i = 0; i < 5; ++i)  // a twentieth of 100 steps
        CHECK(s.at(105 + i) ==
              Approx(found + static_cast<double>(i + 1) / 5 * (1 - static_cast<double>(105 + i) / 205 - found)));
    CHECK_ALL(s.at(150) == Approx(1 - 150.0 / 205), s.at(205) == 0);
}

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
    used.time = seconds / kTime, used.plan = static_cast<double>(step) / static_cast<double>(planned);
    return used;
}

void uses_its_time(const Used& used) {
    CHECK(used.time >= 0.97);
    CHECK(used.plan >= 0.97);  // the learning rate has come to its end
}

}  // namespace

TEST_CASE("time plan: a run ends with its time, at a steady speed, a wandering one, and with long steps", "[train]") {
    for (const double speed : {0.5, 0.75, 1.0})
        for (const std::size_t first : {200, 1000, 2376, 1'000'000'000}) {
            INFO(speed << ", " << first << " steps at first");
            const Used used = run([&](double) { return speed; }, first);
            uses_its_time(used);
            CHECK(used.replans <= 9);
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
