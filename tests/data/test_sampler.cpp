#include "data/sampler.h"

#include <algorithm>
#include <map>
#include <set>

#include "data/permutation.h"
#include "engine/base/check.h"
#include "tests/catch.h"
#include "tests/data/windows.h"

using namespace inkling;
using namespace inkling::data;
using namespace inkling::testing;

TEST_CASE("sampler: rows are windows, and targets are one further", "[data]") {
    const SamplerKind kind = GENERATE(SamplerKind::random, SamplerKind::shuffle, SamplerKind::sequential);
    CAPTURE(name_of(kind));
    const auto tokens = positions(101);
    const auto sampler = make_sampler(kind, tokens, 3, 8, 1);
    Batch batch;
    for (std::uint64_t step : {0, 1, 7, 1000}) {
        sampler->fill(step, batch);
        REQUIRE(batch.batch == 3);
        REQUIRE(batch.length == 8);
        REQUIRE(batch.inputs.size() == 24);
        REQUIRE(batch.targets.size() == 24);
        for (std::size_t i = 0; i < 24; ++i) {
            CHECK(batch.targets[i] == batch.inputs[i] + 1);
            CHECK(batch.inputs[i] == batch.inputs[i / 8 * 8] + static_cast<int>(i % 8));
            CHECK(batch.targets[i] <= 100);
        }
    }
}

TEST_CASE("sampler: any step in any order is the same, and buffers are kept", "[data]") {
    const SamplerKind kind = GENERATE(SamplerKind::random, SamplerKind::shuffle, SamplerKind::sequential);
    CAPTURE(name_of(kind));
    const auto tokens = positions(500);
    const auto a = make_sampler(kind, tokens, 4, 16, 42), b = make_sampler(kind, tokens, 4, 16, 42);
    Batch forward, single;
    a->fill(0, forward);
    const auto* buffer = forward.inputs.data();
    for (std::uint64_t step = 1; step < 40; ++step) a->fill(step, forward);
    CHECK(forward.inputs.data() == buffer);
    b->fill(39, single);
    CHECK(single.inputs == forward.inputs);
    CHECK(single.targets == forward.targets);
}

TEST_CASE("sampler: the seed matters where there is chance, and starts are uniform", "[data]") {
    const auto tokens = positions(500);
    const auto first = [&](SamplerKind kind, std::uint64_t seed) {
        return starts(*make_sampler(kind, tokens, 4, 16, seed), 3);
    };
    CHECK(first(SamplerKind::random, 1) != first(SamplerKind::random, 2));
    CHECK(first(SamplerKind::shuffle, 1) != first(SamplerKind::shuffle, 2));
    CHECK(first(SamplerKind::sequential, 1) == first(SamplerKind::sequential, 2));
    const auto thirty = positions(30);  // starts are uniform over all of 0 to N - T - 1
    std::map<std::size_t, int> count;
    for (std::size_t s : starts(*make_sampler(SamplerKind::random, thirty, 10, 20, 5), 10'000)) ++count[s];
    CHECK(count.size() == 10);
    CHECK(count.rbegin()->first == 9);
    for (const auto& [start, n] : count) CHECK(std::abs(n - 10'000) < 500);  // 5 standard deviations
}

TEST_CASE("sampler shuffle: every window once an epoch, each epoch in another order and cut elsewhere", "[data]") {
    const auto tokens = positions(213);  // 26 windows of 8, of which an epoch has 25, and 4 tokens to spare
    const std::size_t windows = 25, epochs = 200;
    const auto all =
        starts(*make_sampler(SamplerKind::shuffle, tokens, 4, 8, 3), 1250);  // batches cross the epochs' borders
    std::set<std::vector<std::size_t>> orders;
    std::set<std::size_t> offsets;
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
        std::vector<std::size_t> order(all.begin() + static_cast<std::ptrdiff_t>(epoch * windows),
                                       all.begin() + static_cast<std::ptrdiff_t>((epoch + 1) * windows));
        const std::size_t offset = *std::min_element(order.begin(), order.end());
        offsets.insert(offset);
        std::set<std::size_t> seen;
        for (std::size_t& s : order) {
            CHECK((s - offset) % 8 == 0);
            s = (s - offset) / 8;
            CHECK(s < windows);
            seen.insert(s);
        }
        CHECK(seen.size() == windows);
        orders.insert(order);
    }
    CHECK(orders.size() == epochs);
    CHECK(*offsets.rbegin() == 12);
    CHECK(offsets.size() == 13);
    const auto one_window = positions(9);
    CHECK(starts(*make_sampler(SamplerKind::shuffle, one_window, 2, 8, 3), 1) == std::vector<std::size_t>{0, 0});
}

TEST_CASE("sampler sequential: step s, row b takes window (s B + b) mod floor((N - 1) / T)", "[data]") {
    const auto tokens = positions(33);  // 4 windows of 8
    const auto all = starts(*make_sampler(SamplerKind::sequential, tokens, 3, 8, 0), 4);
    CHECK(all == std::vector<std::size_t>{0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24});
    const auto one_less = starts(*make_sampler(SamplerKind::sequential, std::span(tokens).first(32), 3, 8, 0), 2);
    CHECK(one_less == std::vector<std::size_t>{0, 8, 16, 0, 8, 16});
}

TEST_CASE("sampler: the shortest text that is enough, and errors say what to do", "[data]") {
    const SamplerKind kind = GENERATE(SamplerKind::random, SamplerKind::shuffle, SamplerKind::sequential);
    CAPTURE(name_of(kind));
    const auto tokens = positions(9);
    CHECK(starts(*make_sampler(kind, tokens, 2, 8, 1), 2) == std::vector<std::size_t>(4, 0));
    CHECK_THROWS_AS(make_sampler(kind, std::span(tokens).first(8), 2, 8, 1), BadInput);
    CHECK_THROWS_AS(make_sampler(kind, std::span(tokens).first(0), 2, 8, 1), BadInput);
    const auto twelve = positions(12);  // errors say what to do
    CHECK_THROWS_WITH(
        make_sampler(SamplerKind::random, twelve, 2, 64, 1),
        contains("the text to train on has 12 tokens, the context of 64 needs at least 65: lower --block-size"));
    CHECK_THROWS_WITH(named<SamplerKind>("--sampler", "chance"),
                      "--sampler must be one of paragraphs, random, sequential, shuffle, got 'chance'");
    CHECK_THROWS_AS(make_sampler(SamplerKind::random, twelve, 0, 8, 1), Error);
    CHECK_THROWS_AS(make_sampler(SamplerKind::random, twelve, 2, 0, 1), Error);
}

TEST_CASE("permute: one to one at every size, and every place gets every number equally often", "[data]") {
    for (std::uint64_t n : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 1000, 4097}) {
        std::vector<bool> seen(n);
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint64_t p = permute({7, 1}, i, n);
            REQUIRE(p < n);
            CHECK_FALSE(seen[p]);
            seen[p] = true;
        }
    }
    CHECK(permute({7, 1}, (1ull << 40) + 2, (1ull << 40) + 3) < (1ull << 40) + 3);
    constexpr std::uint64_t n = 6, keys = 12'000;  // every place gets every number equally often
    int count[n][n] = {};
    for (std::uint64_t key = 0; key < keys; ++key)
        for (std::uint64_t i = 0; i < n; ++i) ++count[i][permute({1, key}, i, n)];
    for (const auto& row : count)
        for (int c : row) CHECK(std::abs(c - 2000) < 220);  // over 5 standard deviations
}

TEST_CASE("sampler: ids of 2 bytes give the same batches", "[data]") {
    std::vector<std::int32_t> wide(1000);
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<std::int32_t>(i * 61 % 60'000);
    const std::vector<std::uint16_t> narrow(wide.begin(), wide.end());
    for (const SamplerKind kind : {SamplerKind::random, SamplerKind::shuffle, SamplerKind::sequential}) {
        Batch a, b;
        make_sampler(kind, wide, 4, 30, 1)->fill(3, a);
        make_sampler(kind, std::span(narrow), 4, 30, 1)->fill(3, b);
        CHECK((a.inputs == b.inputs && a.targets == b.targets && a.inputs[1] == a.targets[0]));
    }
}
