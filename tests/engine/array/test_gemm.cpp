// Matrix products: known values, the float kernel against the plain loop in double on many shapes and layouts, and the
// same bits with any number of threads.
#include "engine/array/gemm.h"

namespace {

const std::vector<std::size_t> kSizes = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129};

struct Dice {  // choices for one case
    std::uint64_t seed, next = 0;
    std::size_t below(std::size_t n) { return random_below({seed, 5}, next++, n); }
};

// A matrix or batch of `shape` in one of several layouts, over a buffer that may be larger.
Array<float> laid_out(Dice& dice, Shape shape, std::string& text) {
    const std::size_t layout = dice.below(6), rank = shape.size();
    Shape buffer = shape;
    const auto numbers = [&] { return random_array<float>(buffer, dice.seed * 8 + dice.next); };
    switch (layout) {
        case 0:
        case 1:
            text += " dense";
            return numbers();
        case 2:
            text += " transposed";
            std::swap(buffer[rank - 1], buffer[rank - 2]);
            return numbers().transposed(-2, -1);
        case 3:
            text += " padded";
            buffer[rank - 1] += 5;
            return numbers().sliced(-1, 2, 2 + shape[rank - 1]);
        case 4:
            text += " stepped";
            buffer[rank - 1] *= 2;
            return numbers().sliced(-1, 0, buffer[rank - 1], 2);
        default:  // heads: the batch axis lies between rows and columns
            text += " heads";
            if (rank == 2) return numbers();
            std::swap(buffer[rank - 3], buffer[rank - 2]);
            return numbers().transposed(-3, -2);
    }
}

template <class T>
Array<T> magnitude(const Array<T>& a) {
    return xt::abs(a);
}

// The worst error relative to the sum of the terms' magnitudes, as rounding errors are.
double worst_error(const Array<float>& actual, const Array<double>& expected, const Array<double>& size) {
    double worst = 0;
    const Array<float> a = actual.contiguous();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = std::abs(a.data()[i] - expected.data()[i]);
        worst = std::max(worst, std::isfinite(error) ? error / std::max(size.data()[i], 1e-30) : kInfinity);
    }
    return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("gemm: products by hand, of no depth, and shapes that do not fit", "[engine]", float, double) {
    const Array<T> a = of<T>({2, 3}, {1, 2, 3, 4, 5, 6}), b = of<T>({3, 2}, {7, 8, 9, 10, 11, 12});
    Array<T> c({2, 2});
    gemm(a, b, c);
    check_equal(c, {58, 64, 139, 154});
    gemm(a, b, c, {.accumulate = true});
    check_equal(c, {116, 128, 278, 308});
    gemm(a, b, c, {}, of<T>({100, 200}));
    check_equal(c, {158, 264, 239, 354});
    gemm(b.transposed(0, 1), a.transposed(0, 1), c);
    check_equal(c, {58, 139, 64, 154});
    Array<T> batch({2, 2, 2});  // b is used for both
    gemm(of<T>({2, 2, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}), b, batch);
    check_equal(batch, {7, 8, 9, 10, 11, 12, 27, 30});
    const Array<T> x({2, 0}), y({0, 3}), bias = of<T>({1, 2, 3});
    Array<T> z({2, 3}, T{5});
    gemm(x, y, z, {.accumulate = true});
    check_equal(z, {5, 5, 5, 5, 5, 5});
    gemm(x, y, z, {}, bias);
    check_equal(z, {1, 2, 3, 1, 2, 3});
    gemm(x, y, z);
    check_equal(z, {0, 0, 0, 0, 0, 0});
    Array<T> none({0, 3});
    gemm(Array<T>({0, 4}), Array<T>({4, 3}), none);
    CHECK(none.size() == 0);
    Array<T> sevens({2, 2}, T{7});
    const auto ones = Array<T>({2, 3}, T{1});
    CHECK_THROWS_WITH(gemm(ones, Array<T>({2, 2}, T{1}), sevens), contains("gemm", "(2, 3), (2, 2) and (2, 2)"));
    CHECK_THROWS_AS(gemm(ones, Array<T>({3, 4}, T{1}), sevens), Error);
    CHECK_THROWS_AS(gemm(Array<T>({3, 3}, T{1}), Array<T>({3, 2}, T{1}), sevens), Error);
    CHECK_THROWS_AS(gemm(Array<T>({4, 2, 3}, T{1}), Array<T>({3, 2}, T{1}), sevens), Error);
    CHECK_THROWS_AS(gemm(Array<T>({3}, T{1}), Array<T>({3, 2}, T{1}), sevens), Error);
    CHECK_THROWS_WITH(gemm(ones, Array<T>({3, 2}, T{1}), sevens, {}, Array<T>({3}, T{1})), contains("(3,)"));
    check_equal(sevens, {7, 7, 7, 7});
}

TEST_CASE("gemm: float agrees with the plain loop in double on 1000 shapes and layouts", "[engine]") {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        Dice dice{seed};
        const auto size = [&] { return kSizes[dice.below(kSizes.size())]; };
        const std::size_t m = size(), n = size(), k = size(), batches = dice.below(4);
        const Shape front = batches == 0 ? Shape{} : batches == 1 ? Shape{3} : batches == 2 ? Shape{2, 3} : Shape{1, 2};
        const auto matrix = [&](std::size_t rows, std::size_t columns, std::string& text, bool may_broadcast) {
            Shape shape = may_broadcast && dice.below(3) == 0 ? Shape{} : front;
            if (may_broadcast && shape.size() == 2 && dice.below(3) == 0) shape[0] = 1;
            shape.push_back(rows), shape.push_back(columns);
            return laid_out(dice, shape, text);
        };
        std::string text;
        const Array<float> a = matrix(m, k, text, true), b = matrix(k, n, text, true);
        Array<float> c = matrix(m, n, text, false), around = c;
        const bool accumulate = dice.below(2), with_bias = dice.below(2);
        const Array<float> bias = with_bias ? random_array<float>({n}, seed) : Array<float>();
        const Array<double> bias64 = with_bias ? cast<double>(bias) : Array<double>();

        Array<double> expected = cast<double>(c), sizes = magnitude(expected);
        plain_product(cast<double>(a), cast<double>(b), expected, accumulate, bias64);
        plain_product(magnitude(cast<double>(a)), magnitude(cast<double>(b)), sizes, accumulate,
                      with_bias ? magnitude(bias64) : bias64);
        INFO("case " << seed << ": m " << m << ", n " << n << ", k " << k << ", batch " << to_string(front) << text
                     << ", accumulate " << accumulate << ", bias " << with_bias);
        Array<double> c64 = cast<double>(c);
        CHECK_NOTHROW(gemm(cast<double>(a), cast<double>(b), c64, {accumulate}, bias64));
        check_close(c64, expected, 1e-13);
        CHECK_NOTHROW(gemm(a, b, c, {accumulate}, bias));
        CHECK(worst_error(c, expected, sizes) < 1e-6);
    }
}

TEST_CASE("gemm: operands of float are rounded on their way, those of bfloat16 are already", "[engine]") {
    for (const std::size_t k : {1, 2, 31, 64, 129, 2100})
        for (const std::size_t n : {3, 16, 65})
            for (int layout = 0; layout < 4; ++layout) {
                INFO("k " << k << ", n " << n << ", layout " << layout);
                const auto matrix = [](std::size_t rows, std::size_t columns, bool turned) {
                    const auto x = random_array<float>(turned ? Shape{columns, rows} : Shape{rows, columns}, rows);
                    return turned ? x.transposed(0, 1) : x;
                };
                const Array<float> a = matrix(77, k, layout & 1), b = matrix(k, n, layout & 2),
                                   bias = random_array<float>({n}, 3);
                const auto half = [](const Array<float>& x, bool turned) {  // in the same layout
                    if (!turned) return round_to_bfloat16(x);
                    return round_to_bfloat16(x.transposed(0, 1)).transposed(0, 1);
                };
                const Array<BFloat16> a16 = half(a, layout & 1), b16 = half(b, layout & 2);
                const Array<double> a64 = cast<double>(widen(a16)), b64 = cast<double>(widen(b16));
                Array<double> expected({77, n}, 0.5);
                plain_product(a64, b64, expected, true, cast<double>(bias));
                const auto product = [&](const auto& left, const auto& right) {
                    Array<float> c({77, n}, 0.5f);
                    gemm(left, right, c, {.accumulate = true, .round = true}, bias);
                    return c;
                };
                const Array<float> both = product(a16, b16);
                check_close(both, expected, 1e-4);
                CHECK_ALL(same_bits(product(a, b), both), same_bits(product(a16, b), both));
                CHECK(same_bits(product(a, b16), both));
            }
}
