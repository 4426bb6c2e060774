// Rows of examples.
#include "data/packing.h"

namespace {

// Examples of these lengths; example e has the ids 100 e, 100 e + 1, ..., of which every `nth` is learned.
struct Made {
    std::vector<std::int32_t> ids;
    std::vector<std::uint8_t> learn;
    std::vector<std::uint64_t> ends;
    Made(const std::vector<std::size_t>& lengths, std::size_t nth = 1) {
        for (std::size_t d = 0; d < lengths.size(); ++d) {
            for (std::size_t i = 0; i < lengths[d]; ++i)
                ids.push_back(static_cast<std::int32_t>(100 * d + i)), learn.push_back(i % nth == 0);
            ends.push_back(ids.size());
        }
    }
    Dataset dataset() const { return {ids, learn, ends}; }
};

}  // namespace

TEST_CASE("packed examples: every example is in one row, whole, and learns what it should", "[data]") {
    const std::vector<std::size_t> lengths = {9, 3, 1, 30, 2, 17, 5, 0, 16, 4, 8};
    for (const std::size_t nth : {1u, 2u, 3u}) {
        const Made made(lengths, nth);
        const PackedExamples rows(made.dataset(), 0, lengths.size(), 16);
        INFO(nth);
        CHECK(rows.cut() == 1);             // 30 ids; 17 fit: 16 of them are inputs
        CHECK(rows.left_out() == nth + 1);  // too short to have anything to learn
        std::map<std::int32_t, std::size_t> seen;
        std::size_t targets = 0;
        for (std::size_t r = 0; r < rows.size(); ++r) {
            std::vector<std::int32_t> in(16), out(16), begins(16);
            rows.fill(r, in.data(), out.data(), begins.data());
            std::size_t counted = 0;
            for (std::size_t i = 0; i < 16; ++i) {
                const auto begin = static_cast<std::size_t>(begins[i]);
                REQUIRE(begin <= i);
                CHECK((i == 0 || begins[i] == begins[i - 1] || begin == i));
                counted += out[i] != no_target;
                if (i >= std::size_t(std::accumulate(rows.examples(r).begin(), rows.examples(r).end(), std::size_t{0},
                                                     [&](std::size_t sum, std::size_t d) {
                                                         return sum + std::min<std::size_t>(16, lengths[d] - 1);
                                                     }))) {
                    CHECK(out[i] == no_target);  // padding
                    continue;
                }
                CHECK(in[i] % 100 == static_cast<std::int32_t>(i - begin));
                if (out[i] != no_target) CHECK(out[i] == in[i] + 1);
                CHECK((out[i] != no_target) == ((in[i] + 1) % 100 % static_cast<std::int32_t>(nth) == 0));
                ++seen[in[i] / 100];
            }
            CHECK(counted == rows.targets(r));
            targets += counted;
        }
        CHECK(targets == rows.targets());
        for (std::size_t d = 0; d < lengths.size(); ++d) {
            const bool some = lengths[d] > nth || (nth == 1 && lengths[d] == 2);
            CHECK(seen[static_cast<std::int32_t>(d)] == (some ? std::min<std::size_t>(16, lengths[d] - 1) : 0));
        }
        if (nth == 1) CHECK(rows.size() == 5);  // 16, 16, 15 + 1, 8 + 7, 4 + 3 + 2: as few as can be
    }
}

TEST_CASE("packed examples: one that is cut before anything to learn is counted as cut", "[data]") {
    Made made({30, 30, 17, 30, 40}, 1);
    const auto learn = [&](std::size_t e, std::size_t from, std::size_t to) {
        const std::size_t begin = e == 0 ? 0 : made.ends[e - 1], end = made.ends[e];
        for (std::size_t i = begin; i < end; ++i) made.learn[i] = i >= begin + from && i < begin + to;
    };
    learn(0, 17, 30), learn(1, 16, 30), learn(2, 0, 0), learn(3, 0, 1), learn(4, 39, 40);
    const PackedExamples rows(made.dataset(), 0, 5, 16);
    CHECK(rows.size() == 1);  // of the second, whose first learned id is the last of a row
    CHECK_ALL(rows.targets() == 1, rows.cut() == 3, rows.cut_before_answer() == 2);
    CHECK(rows.left_out() == 2);  // the first id has none before it
    const PackedExamples long_rows(made.dataset(), 0, 5, 39), none(made.dataset(), 0, 1, 16);
    CHECK_ALL(long_rows.cut() + long_rows.cut_before_answer() == 0, long_rows.left_out() == 2);
    CHECK_THROWS_WITH(none.require_rows(),
                      contains("no document has anything to learn within a row of 16 tokens: longer rows are needed"));
}

TEST_CASE("packed examples: every row is met once an epoch, by the step alone", "[data]") {
    const Made made({5, 9, 4, 16, 17, 17, 12, 13, 14, 15, 15}, 2);
    const PackedExamples rows(made.dataset(), 0, 11, 16);
    const ExampleSampler sampler(rows, 3, 7), same(rows, 3, 7), other(rows, 3, 8);
    Batch batch;
    std::map<std::vector<std::int32_t>, std::size_t> met;
    std::size_t differ = 0;
    for (std::size_t step = 0; step < rows.size(); ++step) {  // three epochs
        sampler.fill(step, batch);
        CHECK(batch.inputs.shape() == Shape{3, 16});
        CHECK(sampler.targets(step) ==
              48 - static_cast<std::size_t>(std::count(batch.targets.begin(), batch.targets.end(), no_target)));
        for (std::size_t b = 0; b < 3; ++b)
            ++met[{batch.inputs.begin() + std::ptrdiff_t(16 * b), batch.inputs.begin() + std::ptrdiff_t(16 * b + 16)}];
        Batch again, unlike;
        same.fill(step, again), other.fill(step, unlike);
        CHECK_ALL((again.inputs == batch.inputs), (again.begins == batch.begins));
        differ += unlike.inputs != batch.inputs;
    }
    CHECK(met.size() == rows.size());
    for (const auto& [row, times] : met) CHECK(times == 3);
    CHECK(differ > 0);
    const Made none({1, 1});
    const PackedExamples no_rows(none.dataset(), 0, 2, 16);
    CHECK_THROWS_WITH(ExampleSampler(no_rows, 3, 7), contains("no document has anything to learn"));
}
