// Functions of numbers: values and gradients by hand, kinks, ties, extremes, refusals, float against double.
#include "engine/ops/operators.h"

#include "engine/ops/operators.h"
#include "engine/ops/shape.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

const double kNan = std::nan("");

}  // namespace

TEMPLATE_TEST_CASE("math: values and gradients by hand", "[engine]", float, double) {
    using T = TestType;
    const double e = std::exp(1.0), s = std::sin(1.0), c = std::cos(1.0);
    check_by_hand<T>([](const auto& in) { return abs(in[0]); }, {{2, -3, 0}}, {5, 7, 9}, {2, 3, 0}, {{5, -7, 0}});
    check_by_hand<T>([](const auto& in) { return sin(in[0]); }, {{0, 1, -1}}, {5, 2, 3}, {0, s, -s},
                     {{5, 2 * c, 3 * c}});
    check_by_hand<T>([](const auto& in) { return cos(in[0]); }, {{0, 1, -1}}, {5, 2, 3}, {1, c, c},
                     {{0, -2 * s, 3 * s}});
    check_by_hand<T>([](const auto& in) { return log1p(in[0]); }, {{0, e - 1, 3}}, {5, e, 8}, {0, 1, std::log(4.0)},
                     {{5, 1, 2}});
    check_by_hand<T>([](const auto& in) { return expm1(in[0]); }, {{0, 1}}, {5, 7}, {0, e - 1}, {{5, 7 * e}});
    check_by_hand<T>([](const auto& in) { return clamp(in[0], -1, 2); }, {{-3, -1, 0, 2, 5}}, {1, 2, 3, 4, 5},
                     {-1, -1, 0, 2, 2}, {{0, 0, 3, 0, 0}});
    check_by_hand<T>([](const auto& in) { return clamp(in[0], 0.5); }, {{-3, 0.75, 100}}, {1, 2, 3}, {0.5, 0.75, 100},
                     {{0, 2, 3}});
    check_by_hand<T>([](const auto& in) { return clamp(in[0], -kInfinity, 0.5); }, {{-3, 0.25, 100}}, {1, 2, 3},
                     {-3, 0.25, 0.5}, {{1, 2, 0}});
    check_by_hand<T>([](const auto& in) { return maximum(in[0], in[1]); }, {{1, 5, 3}, {2, 4, 3}}, {10, 20, 30},
                     {2, 5, 3}, {{0, 20, 15}, {10, 0, 15}});
    check_by_hand<T>([](const auto& in) { return minimum(in[0], in[1]); }, {{1, 5, 3}, {2, 4, 3}}, {10, 20, 30},
                     {1, 4, 3}, {{10, 0, 15}, {0, 20, 15}});
    check_by_hand<T>([](const auto& in) { return pow(in[0], in[1]); }, {{2, 4, e}, {3, 0.5, 2}}, {1, 1, 1},
                     {8, 2, e * e}, {{12, 0.25, 2 * e}, {8 * std::log(2.0), 2 * std::log(4.0), e * e}});
}

TEMPLATE_TEST_CASE("math: extremes", "[engine]", float, double) {
    using T = TestType;
    const double inf = kInfinity;
    check_by_hand<T>([](const auto& in) { return abs(in[0]); }, {{-inf, inf, kNan}}, {5, 7, 9}, {inf, inf, kNan},
                     {{-5, 7, kNan}});
    check_by_hand<T>([](const auto& in) { return abs(in[0]); }, {{0, 0}}, {inf, 0}, {0, 0}, {{kNan, 0}});  // 0 dy
    check_by_hand<T>([](const auto& in) { return sin(in[0]); }, {{inf, -inf, kNan}}, {1, 1, 1}, {kNan, kNan, kNan},
                     {{kNan, kNan, kNan}});
    check_by_hand<T>([](const auto& in) { return cos(in[0]); }, {{inf, -inf, kNan}}, {1, 1, 1}, {kNan, kNan, kNan},
                     {{kNan, kNan, kNan}});
    check_by_hand<T>([](const auto& in) { return log1p(in[0]); }, {{-1, -2, inf, kNan}}, {1, 1, 1, 1},
                     {-inf, kNan, inf, kNan}, {{inf, -1, 0, kNan}});
    check_by_hand<T>([](const auto& in) { return expm1(in[0]); }, {{-inf, -1000, 1000, inf, kNan}}, {1, 1, 1, 1, 1},
                     {-1, -1, inf, inf, kNan}, {{0, 0, inf, inf, kNan}});
    check_by_hand<T>([](const auto& in) { return clamp(in[0], -1, 1); }, {{-inf, inf, kNan}}, {1, 1, 1}, {-1, 1, kNan},
                     {{0, 0, kNan}});
    for (const bool larger : {true, false}) {
        const auto f = [larger](const auto& in) { return larger ? maximum(in[0], in[1]) : minimum(in[0], in[1]); };
        check_by_hand<T>(f, {{kNan, 1, kNan}, {1, kNan, kNan}}, {1, 1, 1}, {kNan, kNan, kNan},
                         {{kNan, kNan, kNan}, {kNan, kNan, kNan}});
        check_by_hand<T>(f, {{inf, -inf}, {inf, -inf}}, {2, 4}, {inf, -inf}, {{1, 2}, {1, 2}});
    }
    check_by_hand<T>([](const auto& in) { return maximum(in[0], in[1]); }, {{inf, -inf}, {1, 1}}, {2, 4}, {inf, 1},
                     {{2, 0}, {0, 4}});
    // 0^2, 0^0, 0^-1, (-2)^2, 2^0, NaN^0, 1^NaN as IEEE has them; gradients as PyTorch's
    check_by_hand<T>([](const auto& in) { return pow(in[0], in[1]); },
                     {{0, 0, 0, -2, 2, kNan, 1}, {2, 0, -1, 2, 0, 0, kNan}}, {1, 1, 1, 1, 1, 1, 1},
                     {0, 1, inf, 4, 1, 1, 1},
                     {{0, 0, -inf, -4, 0, 0, kNan}, {0, 0, -inf, kNan, std::log(2.0), kNan, 0}});
}

TEMPLATE_TEST_CASE("math: small arguments keep their digits", "[engine]", float, double) {
    using T = TestType;
    const double tiny = std::ldexp(1, sizeof(T) == 4 ? -20 : -40), tolerance = sizeof(T) == 4 ? 1e-6 : 1e-14;
    const Tensor<T> x(of<T>({tiny, -tiny}));
    for (const std::size_t i : {0, 1}) {
        const double v = x.value().data()[i];
        CHECK(log1p(x).value().data()[i] == Approx(v - v * v / 2).epsilon(tolerance));
        CHECK(expm1(x).value().data()[i] == Approx(v + v * v / 2).epsilon(tolerance));
    }
    check_by_hand<T>([](const auto& in) { return expm1(in[0]); }, {{-30}}, {std::exp(30)}, {std::expm1(-30)}, {{1}});
}

TEMPLATE_TEST_CASE("math: operands broadcast and gradients are summed back", "[engine]", float, double) {
    using T = TestType;
    const Tensor<T> column(of<T>({2, 1}, {1, 3}), true), row(of<T>({3}, {0, 1, 5}), true);
    const Tensor<T> y = maximum(column, row);
    check_equal(y.value(), {1, 1, 5, 3, 3, 5});
    backward(y, of<T>({2, 3}, {1, 2, 4, 8, 16, 32}));
    check_equal(column.grad(), {1 + 1, 8 + 16});
    check_equal(row.grad(), {0, 1, 4 + 32});
    const Tensor<T> base(of<T>({2, 1}, {2, 3}), true), number(of<T>(Shape{}, {2}), true);
    backward(pow(base, expand(number, {2, 3})), Array<T>({2, 3}, T{1}));
    check_equal(base.grad(), {12, 18});
    check_close(number.grad(), of<T>(Shape{}, {3 * (4 * std::log(2.0) + 9 * std::log(3.0))}), 1e-6);
}

TEST_CASE("math: what does not fit is refused", "[engine]") {
    const Tensor<double> a(Array<double>({2, 3}, 1.0)), b(Array<double>({2}, 1.0));
    CHECK_THROWS_WITH(maximum(a, b), ContainsSubstring("maximum:") && ContainsSubstring("(2, 3) and (2,)"));
    CHECK_THROWS_WITH(minimum(b, a), ContainsSubstring("minimum:") && ContainsSubstring("(2,) and (2, 3)"));
    CHECK_THROWS_WITH(pow(a, b), ContainsSubstring("pow:") && ContainsSubstring("(2, 3) and (2,)"));
    CHECK_THROWS_WITH(clamp(a, 2, 1), ContainsSubstring("clamp: the lowest") && ContainsSubstring("2 and 1"));
    CHECK_THROWS_WITH(clamp(a, kNan), ContainsSubstring("clamp: the lowest"));
}

TEST_CASE("math: float agrees with double, with any number of threads", "[engine]") {
    const auto all = [](const auto& in) {
        const auto& x = in[0];
        return clamp(sin(x) * cos(x) + log1p(abs(x)), -0.1, 0.6) + maximum(x, in[1]) * minimum(expm1(x), in[1]) +
               pow(abs(x), in[1]);
    };
    for (const std::size_t n : kRagged) check_float_against_double(all, {{3, n}, {n}}, positive);
    const std::vector<Array<float>> at = {random_array<float>({301, 517}, 1), random_array<float>({517}, 2)};
    check_same_with_any_threads("math", [&] { return all_of(run<float>(all, at)); });
}
