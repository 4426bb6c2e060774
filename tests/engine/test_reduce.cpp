// Sums, means and maxima: values and gradients by hand, axes, shared maxima, precision, threads.
#include "engine/ops/reduce.h"
#include "engine/sum.h"

#include "engine/ops/shape.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEMPLATE_TEST_CASE("reduce: sums over any axes, which vanish or stay", "[engine]", float, double) {
    using T = TestType;
    const Tensor<T> x(of<T>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), true);
    check_equal(sum(x).value(), {78});
    check_equal(sum(x, {0}).value(), {8, 10, 12, 14, 16, 18});
    check_equal(sum(x, {1}).value(), {9, 12, 27, 30});
    check_equal(sum(x, {-1}).value(), {3, 7, 11, 15, 19, 23});
    check_equal(sum(x, {0, 1}).value(), {36, 42});
    check_equal(sum(x, {2, 0}).value(), {18, 26, 34});
    check_equal(sum(x, {0, 1, 2}).value(), {78});
    CHECK(sum(x).shape() == Shape{});
    CHECK(sum(x, {}, true).shape() == Shape{1, 1, 1});
    CHECK(sum(x, {1}).shape() == Shape{2, 2});
    CHECK(sum(x, {1}, true).shape() == Shape{2, 1, 2});
    check_equal(sum(transpose(x, 0, 1), {1}).value(), {8, 10, 12, 14, 16, 18});
    backward(sum(x, {1}), of<T>({2, 2}, {1, 2, 3, 4}));
    check_equal(x.grad(), {1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4});
}

TEMPLATE_TEST_CASE("reduce: a mean divides by the number of elements", "[engine]", float, double) {
    using T = TestType;
    const Tensor<T> x(of<T>({2, 2}, {1, 2, 3, 6}), true);
    check_equal(mean(x).value(), {3});
    check_equal(mean(x, {0}).value(), {2, 4});
    check_equal(mean(x, {1}, true).value(), {1.5, 4.5});
    backward(mean(x, {0}), of<T>({2}, {2, 8}));
    check_equal(x.grad(), {1, 4, 1, 4});
}

TEMPLATE_TEST_CASE("reduce: elements that share the maximum share its gradient", "[engine]", float, double) {
    using T = TestType;
    const Tensor<T> x(of<T>({3, 3}, {1, 5, 2, 7, 7, 0, -4, -4, -4}), true);
    const Tensor<T> y = max(x, {1});
    check_equal(y.value(), {5, 7, -4});
    backward(y, of<T>({3}, {1, 10, 3}));
    check_equal(x.grad(), {0, 1, 0, 5, 5, 0, 1, 1, 1});
    check_equal(max(x).value(), {7});
    check_equal(max(x, {0}).value(), {7, 7, 2});
    CHECK(max(x, {0}, true).shape() == Shape{1, 3});
    const Tensor<T> infinite(of<T>({2}, {-kInfinity, -kInfinity}), true);
    backward(max(infinite));
    check_equal(max(infinite).value(), {-kInfinity});
    check_equal(infinite.grad(), {0.5, 0.5});
}

TEST_CASE("reduce: empty axes and wrong axes", "[engine]") {
    const Tensor<double> none(Array<double>({0, 3}), true), x(Array<double>({2, 3}, 1.0));
    check_equal(sum(none).value(), {0});
    check_equal(sum(none, {0}).value(), {0, 0, 0});
    CHECK(sum(none, {1}).shape() == Shape{0});
    backward(sum(none));
    CHECK(none.grad().shape() == Shape{0, 3});
    CHECK_THROWS_WITH(mean(none), ContainsSubstring("mean: at least one element") && ContainsSubstring("(0, 3)"));
    CHECK_THROWS_WITH(max(none, {0}), ContainsSubstring("max: at least one element") && ContainsSubstring("(0, 3)"));
    CHECK_THROWS_WITH(sum(x, {2}), ContainsSubstring("sum: axis 2"));
    CHECK_THROWS_WITH(mean(x, {-3}), ContainsSubstring("mean: axis -3"));
    CHECK_THROWS_WITH(max(x, {0, 0}), ContainsSubstring("max: an axis is named twice"));
    CHECK_THROWS_WITH(sum(x, {1, -1}), ContainsSubstring("twice"));
}

TEST_CASE("reduce: sum_over is the sum by loops, on any strides", "[engine]") {
    const Array<double> x = normal({3, 4, 5, 2}, 1).permuted({2, 0, 3, 1});  // (5, 3, 2, 4)
    for (std::size_t mask = 1; mask < 16; ++mask) {
        std::vector<std::size_t> axes;
        Shape kept(4, 1), shape;
        for (std::size_t i = 0; i < 4; ++i) {
            if (mask >> i & 1) {
                axes.push_back(i);
            } else {
                kept[i] = x.shape()[i], shape.push_back(kept[i]);
            }
        }
        Array<double> expected(kept, 0.0);
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t j = 0; j < 3; ++j)
                for (std::size_t k = 0; k < 2; ++k)
                    for (std::size_t l = 0; l < 4; ++l)
                        expected(i % kept[0], j % kept[1], k % kept[2], l % kept[3]) += x(i, j, k, l);
        check_close(sum_over<double>(x, axes), expected.reshaped(shape), 1e-13);
        check_close(sum_over<double>(x.clone(), axes), expected.reshaped(shape), 1e-13);
    }
}

TEST_CASE("reduce: long float sums keep their digits", "[engine]") {
    const std::size_t n = 4000000;
    const Tensor<float> x(Array<float>({n}, 0.1f));
    CHECK(sum(x).item() == Approx(400000.0).epsilon(1e-5));  // one running float sum would be 1% off
    CHECK(mean(x).item() == Approx(0.1).epsilon(1e-5));
}

TEST_CASE("reduce: float agrees with double on ragged shapes", "[engine]") {
    const auto apart = [](Array<double> x) {
        for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<double>((i * 7919 + 3) % 1009) / 8;
        return x;
    };
    for (const std::size_t n : kRagged) {
        check_float_against_double([](const auto& in) { return sum(in[0]); }, {{n}});
        check_float_against_double([](const auto& in) { return sum(in[0], {1}); }, {{3, n}});
        check_float_against_double([](const auto& in) { return sum(in[0], {0}); }, {{n, 5}});
        check_float_against_double([](const auto& in) { return mean(in[0], {0, 2}, true); }, {{3, n, 4}});
        check_float_against_double([](const auto& in) { return max(in[0], {1}); }, {{7, n}}, apart);
    }
}

TEST_CASE("reduce: the same bits with any number of threads", "[engine]") {
    const std::vector<Array<float>> at = {random_array<float>({700, 1201}, 1)};
    check_same_with_any_threads("sums", [&] {
        const Tensor<float> x(at[0]);
        return std::vector<ConstArray<float>>{sum(x).value(),
                                              sum(x, {0}).value(),
                                              sum(x, {1}).value(),
                                              mean(x, {0}).value(),
                                              sum_over<float>(at[0].transposed(0, 1), {0}),
                                              max(x, {1}).value(),
                                              max(x).value()};
    });
    check_same_with_any_threads("max, backward",
                                [&] { return all_of(run<float>([](const auto& in) { return max(in[0], {0}); }, at)); });
}
