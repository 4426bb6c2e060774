// Random numbers: Philox against its published vectors, ranges and moments, and independence of keys.
#include "engine/base/random.h"

TEST_CASE("random: Philox-4x32-10 by Random123's vectors, of which seed, stream and index all matter", "[engine]") {
    const auto words = [](std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
        const auto w = random_words({seed, stream}, index);
        return std::vector<std::uint32_t>{w[0], w[1], w[2], w[3]};
    };
    using Words = std::vector<std::uint32_t>;
    CHECK(words(0, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    const std::uint64_t ones = ~std::uint64_t{0};
    CHECK(words(ones, ones, ones) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(words(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88) ==
          Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    std::set<double> seen;  // seed, stream and index all matter
    for (std::uint64_t seed : {0ull, 1ull, 1ull << 32, 1ull << 63})
        for (std::uint64_t stream : {0ull, 1ull, 1ull << 32, 1ull << 63})
            for (std::uint64_t index : {0ull, 1ull, 1ull << 32, 1ull << 63})
                seen.insert(random_uniform({seed, stream}, index));
    CHECK_ALL(seen.size() == 64, random_uniform({1, 2}, 3) == random_uniform({1, 2}, 3));
}

TEST_CASE("random: uniform numbers fill 0 to 1 evenly, normal ones have their moments and tails", "[engine]") {
    constexpr std::size_t n = 200000, bins = 50;
    std::vector<double> count(bins, 0);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double u = random_uniform({3, 4}, i);
        if (!(u >= 0 && u < 1)) FAIL(u << " at index " << i);
        sum += u;
        ++count[static_cast<std::size_t>(u * bins)];
    }
    CHECK(std::abs(sum / n - 0.5) < 4 * std::sqrt(1.0 / 12 / n));
    double chi2 = 0;
    for (const double c : count) chi2 += (c - n / bins) * (c - n / bins) / (n / bins);
    CHECK(chi2 < 95);  // 49 degrees of freedom: exceeded once in 10,000 keys
    CHECK(chi2 > 19);
    constexpr std::size_t many = 200000;
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0, within = 0, neighbours = 0, last = 0;
    for (std::size_t i = 0; i < many; ++i) {
        const double z = random_normal({5, 6}, i);
        m1 += z, m2 += z * z, m3 += z * z * z, m4 += z * z * z * z, within += std::abs(z) < 1, neighbours += z * last;
        last = z;
    }
    const double sigma = 1 / std::sqrt(static_cast<double>(many));
    CHECK_ALL(std::abs(m1 / many) < 4 * sigma, std::abs(m2 / many - 1) < 4 * std::sqrt(2.0) * sigma);
    CHECK_ALL(std::abs(m3 / many) < 4 * std::sqrt(15.0) * sigma, std::abs(m4 / many - 3) < 4 * std::sqrt(96.0) * sigma);
    CHECK_ALL(std::abs(within / many - 0.682689) < 4 * 0.4655 * sigma, std::abs(neighbours / many) < 4 * sigma);
}

TEST_CASE("random: random_below is even to both ends, and a generator hands out one stream a use", "[engine]") {
    for (const std::uint64_t n : {1u, 2u, 3u, 7u, 100u}) {
        std::vector<double> count(n, 0);
        const double each = 10000;
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(each) * n; ++i) {
            const std::uint64_t k = random_below({7, n}, i, n);
            if (k >= n) FAIL(k << " is not below " << n);
            ++count[k];
        }
        for (const double c : count) CHECK(std::abs(c - each) < 4.5 * std::sqrt(each));
    }
    const std::uint64_t huge = std::uint64_t{1} << 63;
    bool upper = false;
    for (std::uint64_t i = 0; i < 64; ++i) upper = upper || random_below({8, 0}, i, huge) >= huge / 2;
    CHECK(upper);
    Generator g{42, 0};
    const RandomKey first = g.next(), second = g.next();
    CHECK_ALL(first.seed == 42, first.stream == 0, second.stream == 1);
    Generator resumed{g.seed, g.next_stream};
    CHECK(resumed.next().stream == 2);
}
