// The number of threads chosen by the duration of work. Durations are made up, so that nothing depends on the machine.
#include "engine/process/adaptive_threads.h"

#include "engine/base/clock.h"

namespace {

// The duration of a piece of work with this many threads, `time` seconds after the start.
using Machine = std::function<double(std::size_t threads, double time)>;

struct Worked {
    double seconds = 0;
    std::vector<double> with;  // seconds with 0, 1, 2, ... threads
};

// Works until `seconds` have passed.
Worked work(ThreadChoice& choice, const Machine& machine, double seconds, double start = 0) {
    Worked result{0, std::vector<double>(choice.max() + 1)};
    while (result.seconds < seconds) {
        const std::size_t n = choice.threads();
        REQUIRE(n >= 1);
        REQUIRE(n <= choice.max());
        const double piece = machine(n, start + result.seconds);
        choice.done(1, piece);
        result.seconds += piece;
        result.with[n] += piece;
    }
    return result;
}

// The time of the work in result.with, as a multiple of its time with the best number of threads.
double slowdown(const Worked& result, const Machine& machine, std::size_t best) {
    double fastest = 0;
    for (std::size_t n = 1; n < result.with.size(); ++n) fastest += result.with[n] / machine(n, 0) * machine(best, 0);
    return result.seconds / fastest;
}

double quiet(std::size_t threads, double) { return threads == 2 ? 0.0095 : 0.0135; }
double busy(std::size_t threads, double) { return threads == 2 ? 0.033 : 0.0135; }

}  // namespace

TEST_CASE("adaptive threads: the fastest number works, soon and then nearly always", "[engine]") {
    struct Case {
        const char* name;
        Machine machine;
        std::size_t most, best;
        double first, slowdown_of_first, then, slowdown;  // seconds, and what they may cost
    };
    const Machine one_core_taken = [](std::size_t n, double) {
        return n == 8 ? 0.006 : 0.02 / static_cast<double>(n);  // all wait for the eighth
    };
    const Machine too_small = [](std::size_t n, double) { return 0.001 * static_cast<double>(n); };
    for (const Case& c : {Case{"quiet", quiet, 2, 2, 10, 1.02, 10, 1.02},
                          {"busy", busy, 2, 1, 1, 1.15, 10, 1.02},
                          {"one core taken", one_core_taken, 8, 7, 20, 1.03, 5, 1.03},
                          {"too small", too_small, 8, 1, 5, 3, 10, 1.03},
                          {"of one core", busy, 1, 1, 1, 1.001, 1, 1.001}}) {
        INFO(c.name);
        ThreadChoice choice(c.most);
        CHECK(slowdown(work(choice, c.machine, c.first), c.machine, c.best) <= c.slowdown_of_first);
        const Worked result = work(choice, c.machine, c.then);
        CHECK(slowdown(result, c.machine, c.best) <= c.slowdown);
        if (c.most > 1) CHECK(result.with[c.best] < result.seconds);  // it does try
    }
}

TEST_CASE("adaptive threads: changes are noticed soon, short and noisy pieces judged by their mean", "[engine]") {
    ThreadChoice choice(2);
    const Machine changing = [](std::size_t n, double t) { return t > 10 && t < 20 ? busy(n, t) : quiet(n, t); };
    work(choice, changing, 10), work(choice, changing, 2, 10);
    CHECK(slowdown(work(choice, busy, 7, 12), busy, 1) < 1.05);
    work(choice, changing, 4, 20);
    CHECK(slowdown(work(choice, changing, 10, 24), quiet, 2) < 1.02);
    // Most pieces are faster with two threads; now and then one waits for another program's time slice.
    std::size_t pieces = 0;
    const Machine waits = [&](std::size_t n, double) {
        if (n == 1) return 0.0002;
        return ++pieces % 10 == 0 ? 0.004 : 0.00012;
    };
    ThreadChoice by_mean(2);
    const Worked result = work(by_mean, waits, 5);
    CHECK(result.with[1] > 0.95 * result.seconds);
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
        std::uint64_t timed = 0;
        const Machine noisy = [&](std::size_t n, double time) {
            return quiet(n, time) * (time < 0.1 ? 2 : 1) * (1 + random_uniform({seed, 1}, timed++));
        };
        ThreadChoice noisily(2);
        CHECK_ALL(work(noisily, noisy, 1).with[1] < 0.25, work(noisily, noisy, 10).with[1] < 0.5);
    }
}

TEST_CASE("adaptive threads: an hour's stop is soon forgotten, and work of other sizes goes by its pace", "[engine]") {
    for (const std::size_t stopped_with : {1, 2}) {
        ThreadChoice choice(2);
        work(choice, quiet, 3);
        while (choice.threads() != stopped_with) work(choice, quiet, 0.001);
        choice.done(1, 3600);
        work(choice, quiet, 1);
        CHECK(slowdown(work(choice, quiet, 10), quiet, 2) < 1.02);
        work(choice, busy, 4);
        CHECK(slowdown(work(choice, busy, 10), busy, 1) < 1.05);
    }
    ThreadChoice choice(2);
    double with_one = 0, all = 0;
    for (std::size_t i = 0; i < 4000; ++i) {
        const double size = static_cast<double>(1 + i % 50), seconds = size * quiet(choice.threads(), 0);
        (choice.threads() == 1 ? with_one : all) += seconds;
        choice.done(size, seconds);
    }
    CHECK(with_one < 0.05 * all);
}

TEST_CASE("adaptive threads: a scope sets what is tried, and gives the maximum back", "[engine]") {
    const int before = omp_get_max_threads();
    omp_set_num_threads(7);  // as no other test, whose times would be known
    int first_try = 0;       // the piece that is the first with fewer threads
    for (int i = 1; first_try == 0 && i < 100; ++i) {
        const AdaptiveThreads threads(Work::prompt);
        if (omp_get_max_threads() == 6) first_try = i;
        for (const double start = seconds_now(); seconds_now() - start < 0.02;) {
        }
    }
    CHECK_ALL(first_try == 4, omp_get_max_threads() == 7);
    {
        const FixedThreads fixed;
        const AdaptiveThreads threads(Work::prompt);
        CHECK(omp_get_max_threads() == 7);
    }
    const auto throws = [] {
        const AdaptiveThreads threads(Work::prompt);
        throw 1;
    };
    CHECK_THROWS(throws());
    CHECK(omp_get_max_threads() == 7);
    omp_set_num_threads(before);
}
