// bfloat16: rounding to nearest with ties to even, arrays in any layout, and products.
#include "engine/array/bfloat16.h"

#include "engine/array/gemm.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEST_CASE("bfloat16: rounds to nearest, ties to even, in arrays of any layout, and back", "[engine]") {
    const auto rounded = [](float x) { return widen(round_to_bfloat16(x)); };
    const float ulp = 0x1p-7f;  // of numbers from 1 to 2
    CHECK(rounded(1.0f) == 1.0f);
    CHECK(rounded(1.0f + ulp / 2) == 1.0f);  // a tie: to the even neighbour
    CHECK(rounded(1.0f + 3 * ulp / 2) == 1.0f + 2 * ulp);
    CHECK(rounded(1.0f + ulp * 0.51f) == 1.0f + ulp);
    CHECK(rounded(-3.14159f) == -3.140625f);
    CHECK(rounded(0x1.ffp127f) == std::numeric_limits<float>::infinity());
    CHECK(rounded(-std::numeric_limits<float>::infinity()) == -std::numeric_limits<float>::infinity());
    CHECK(std::isnan(rounded(std::nanf(""))));
    CHECK(std::isnan(rounded(std::bit_cast<float>(0x7f800001u))));  // its payload is all in the lost half
    CHECK(std::signbit(rounded(-0.0f)));
    CHECK(rounded(0x1p-140f) == 0x1p-133f * 0);
    CHECK(rounded(0x1p-133f) == 0x1p-133f);
    const Array<float> x = random_array<float>({5, 37}, 1);  // arrays of any layout, and back
    for (const ConstArray<float>& view :
         std::vector<ConstArray<float>>{x, x.transposed(0, 1), x.sliced(1, 3, 36, 2), x.broadcasted({2, 5, 37})}) {
        const Array<BFloat16> h = round_to_bfloat16(view);
        CHECK(h.is_contiguous());
        const ConstArray<float> back = widen(h), dense = view.contiguous();
        REQUIRE(back.shape() == view.shape());
        for (std::size_t i = 0; i < dense.size(); ++i) {
            CHECK(back.data()[i] == widen(round_to_bfloat16(dense.data()[i])));
        }
    }
}

TEST_CASE("bfloat16: products agree with those of the rounded numbers in double", "[engine]") {
    for (const std::size_t m : {1, 3, 17, 64, 129}) {
        for (const std::size_t n : {1, 16, 33, 130}) {
            for (const std::size_t k : {1, 2, 31, 128}) {
                for (const int layout : {0, 1, 2, 3}) {
                    INFO("m " << m << ", n " << n << ", k " << k << ", layout " << layout);
                    const auto matrix = [&](std::size_t rows, std::size_t columns, bool turned, std::uint64_t seed) {
                        const auto a = round_to_bfloat16(
                            random_array<float>(turned ? Shape{columns, rows} : Shape{rows, columns}, seed));
                        return turned ? a.transposed(0, 1) : a;
                    };
                    const auto a = matrix(m, k, layout & 1, 1), b = matrix(k, n, layout & 2, 2);
                    const Array<float> bias = random_array<float>({n}, 3);
                    Array<float> c({m, n}, 0.5f);
                    Array<double> expected({m, n}, 0.5);
                    gemm(a, b, c, {.accumulate = true}, bias);
                    const auto exact = [](const Array<BFloat16>& h) {
                        return inkling::testing::cast<double>(widen(h));
                    };
                    gemm_plain(exact(a), exact(b), expected, {.accumulate = true},
                               inkling::testing::cast<double>(bias));
                    check_close(c, expected, 1e-5);
                }
            }
        }
    }
}
