// Parallel loops: each index once, exceptions, nesting, and sums that do not depend on the number of threads.

#include "engine/array/strided.h"

TEST_CASE("parallel_for: ranges cover every index once, and begin at multiples of the unit", "[engine]") {
    for (const int threads : {1, 2, 3, 7, 8}) {
        const Threads scope(threads);
        for (const std::size_t n : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 100, 1001})
            for (const auto& [grain, unit] : {std::pair{0, 1}, {1, 1}, {3, 1}, {50, 1}, {5000, 1}, {1, 32}}) {
                const auto u = static_cast<std::size_t>(unit);
                std::vector<int> seen(n, 0), begins(n, 0);
                const auto body = [&](std::size_t begin, std::size_t end) {
                    ++begins[begin];
                    for (std::size_t i = begin; i < end; ++i) ++seen[i];
                };
                parallel_for(n, static_cast<std::size_t>(grain), u, body);
                INFO(n << " indices, grain " << grain << ", unit " << unit << ", " << threads << " threads");
                CHECK(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(n));
                for (std::size_t i = 0; i < n; ++i)
                    if (begins[i] > 0) CHECK(i % u == 0);
            }
    }
    const Threads scope(3);  // the number of threads, and 1 inside a loop
    CHECK(max_threads() == 3);
    std::atomic<std::size_t> inside = 0;
    parallel_for(3, 1, [&](std::size_t, std::size_t) { inside += max_threads(); });
    CHECK(inside == 3);
}

TEST_CASE("parallel_for: work below two grains stays on the calling thread, more is shared", "[engine]") {
    const Threads scope(4);
    std::atomic<int> calls = 0;
    const auto count = [&](std::size_t, std::size_t) { ++calls; };
    parallel_for(199, 100, count);
    CHECK(calls == 1);
    calls = 0;
    parallel_for(200, 100, count);  // 2 threads, each of which has a call at least, of a quarter of a grain or more
    CHECK_ALL(calls >= 2, calls <= 8);
    calls = 0;
    parallel_for(100000, 100, count);
    CHECK(calls >= 4);
    CHECK(calls <= 128);  // 32 a thread
    calls = 0;
    parallel_rows(64, kGrain / 16, count);  // the grain of rows is in elements: 4 threads have 16 rows each
    CHECK_ALL(calls >= 4, calls <= 16);
    calls = 0;
    parallel_rows(16, kGrain / 16, count);
    CHECK(calls == 1);
}

TEST_CASE("parallel_for: what a thread has not begun is done by others while it is held up", "[engine]") {
    const Threads scope(2);
    std::atomic<std::size_t> done = 0;
    bool others_done = false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);  // never reached
    parallel_for(1000, 1, [&](std::size_t first, std::size_t last) {
        while (first == 0 && !others_done && std::chrono::steady_clock::now() < end)
            others_done = done == 1000 - (last - first);
        done += last - first;
    });
    CHECK_ALL(others_done, done == 1000);
}

TEST_CASE("parallel_for: an exception on any thread reaches the caller", "[engine]") {
    const Threads scope(4);
    for (const std::size_t bad : {0, 333, 999}) {
        const auto body = [bad](std::size_t begin, std::size_t end) {
            check(bad < begin || bad >= end, "index {}", bad);
        };
        CHECK_THROWS_WITH(parallel_for(1000, 1, body), contains(std::to_string(bad)));
    }
    for (int i = 0; i < 100; ++i) {  // of several it is the first, as on one thread
        const auto body = [](std::size_t begin, std::size_t) { check(false, "index {}.", begin); };
        CHECK_THROWS_WITH(parallel_for(1000, 1, body), contains("index 0."));
    }
    std::atomic<std::size_t> sum = 0;  // and the next loop works
    parallel_for(1000, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
    CHECK(sum == 1000);
}

TEST_CASE("parallel_for: a loop inside a loop runs on its thread", "[engine]") {
    const Threads scope(4);
    std::atomic<int> inner = 0, outer = 0;
    parallel_for(4, 1, [&](std::size_t, std::size_t) {
        ++outer;
        parallel_for(1000, 1, [&](std::size_t begin, std::size_t end) { inner += begin == 0 && end == 1000; });
    });
    CHECK_ALL(outer == 4, inner == 4);
}

TEST_CASE("chunked_sum: the chunks are added in order, with any number of threads", "[engine]") {
    const std::size_t n = 1000003, chunk = 1000;
    const Array<float> x = random_array<float>({n}, 1);
    const auto part = [&](std::size_t begin, std::size_t end) {
        return std::accumulate(x.data() + begin, x.data() + end, 0.0f);
    };
    float expected = 0;
    for (std::size_t begin = 0; begin < n; begin += chunk) expected += part(begin, std::min(n, begin + chunk));
    for (const int threads : {1, 2, 3, 5, 7, 8}) {
        const Threads scope(threads);
        CHECK(chunked_sum<float>(n, chunk, part) == expected);
    }
    CHECK(chunked_sum<float>(0, chunk, part) == 0);
}

TEST_CASE("StridedLoop: axes that all operands walk evenly become one", "[engine]") {
    const Array<float> a({2, 3, 4}), b({2, 1, 4});
    const auto merged = [](const Shape& shape, const ConstArray<float>& x, const ConstArray<float>& y) {
        return StridedLoop(shape, {&x.strides(), &y.strides()}).shape;
    };
    CHECK(merged({2, 3, 4}, a, a) == Shape{24});
    CHECK(merged({2, 3, 4}, a, b.broadcasted({2, 3, 4})) == Shape{2, 3, 4});
    CHECK(merged({2, 3, 4}, a, Array<float>(Shape{}).broadcasted({2, 3, 4})) == Shape{24});
    CHECK(merged({2, 1, 4}, b, b) == Shape{8});
    CHECK(merged({}, Array<float>(Shape{}), Array<float>(Shape{})) == Shape{1});
    const Array<float> t = a.transposed(0, 1);
    CHECK(merged({3, 2, 4}, t, t) == Shape{3, 2, 4});
}
