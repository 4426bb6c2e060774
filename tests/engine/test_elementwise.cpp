// Arithmetic: values and gradients by hand, broadcasting, IEEE's extremes, refusals, and float against double.
#include "engine/ops/operators.h"

#include "engine/ops/activation.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEMPLATE_TEST_CASE("elementwise: values and gradients by hand", "[engine]", float, double) {
    using T = TestType;
    const double e = std::exp(1.0), nan = std::nan("");
    check_by_hand<T>([](const auto& in) { return in[0] + in[1]; }, {{1, 2}, {10, 20}}, {5, 7}, {11, 22},
                     {{5, 7}, {5, 7}});
    check_by_hand<T>([](const auto& in) { return in[0] - in[1]; }, {{1, 2}, {10, 20}}, {5, 7}, {-9, -18},
                     {{5, 7}, {-5, -7}});
    check_by_hand<T>([](const auto& in) { return in[0] * in[1]; }, {{1, 2}, {10, -20}}, {5, 7}, {10, -40},
                     {{50, -140}, {5, 14}});
    check_by_hand<T>([](const auto& in) { return in[0] / in[1]; }, {{1, 2}, {10, -20}}, {5, 7}, {0.1, -0.1},
                     {{0.5, -0.35}, {-0.05, -0.035}});
    check_by_hand<T>([](const auto& in) { return -in[0]; }, {{1, -2}}, {5, 7}, {-1, 2}, {{-5, -7}});
    check_by_hand<T>([](const auto& in) { return exp(in[0]); }, {{0, 1}}, {5, 7}, {1, e}, {{5, 7 * e}});
    check_by_hand<T>([](const auto& in) { return log(in[0]); }, {{1, e, 4}}, {5, e, 8}, {0, 1, std::log(4.0)},
                     {{5, 1, 2}});
    check_by_hand<T>([](const auto& in) { return sqrt(in[0]); }, {{4, 9}}, {8, 9}, {2, 3}, {{2, 1.5}});
    check_by_hand<T>([](const auto& in) { return affine(in[0], 3, -1); }, {{4, 9}}, {8, 9}, {11, 26}, {{24, 27}});
    check_by_hand<T>([](const auto& in) { return scale(in[0], 0.5); }, {{4, 9}}, {8, 9}, {2, 4.5}, {{4, 4.5}});
    check_by_hand<T>([](const auto& in) { return pow(in[0], 3); }, {{2, -2, 0}}, {1, 10, 1}, {8, -8, 0},
                     {{12, 120, 0}});
    check_by_hand<T>([](const auto& in) { return pow(in[0], 0); }, {{2, 0}}, {1, 1}, {1, 1}, {{0, 0}});
    check_by_hand<T>([](const auto& in) { return pow(in[0], 1); }, {{2, 0}}, {3, 4}, {2, 0}, {{3, 4}});
    check_by_hand<T>([](const auto& in) { return pow(in[0], -1); }, {{2, -4}}, {1, 1}, {0.5, -0.25},
                     {{-0.25, -0.0625}});
    check_by_hand<T>([](const auto& in) { return pow(in[0], 0.5); }, {{4, -1}}, {1, 1}, {2, nan}, {{0.25, nan}});
}

TEMPLATE_TEST_CASE("elementwise: poles and overflow are IEEE's", "[engine]", float, double) {
    using T = TestType;
    const double inf = kInfinity, nan = std::nan("");
    check_by_hand<T>([](const auto& in) { return log(in[0]); }, {{0, -1, inf}}, {1, 1, 1}, {-inf, nan, inf},
                     {{inf, -1, 0}});
    check_by_hand<T>([](const auto& in) { return sqrt(in[0]); }, {{0, -1, inf}}, {1, 1, 1}, {0, nan, inf},
                     {{inf, nan, 0}});
    check_by_hand<T>([](const auto& in) { return in[0] / in[1]; }, {{1, -1, 0, 1}, {0, 0, 0, inf}}, {1, 1, 1, 1},
                     {inf, -inf, nan, 0}, {{inf, inf, inf, 0}, {-inf, inf, nan, 0}});
    check_by_hand<T>([](const auto& in) { return exp(in[0]); }, {{1000, -1000, -inf, inf, nan}}, {1, 1, 1, 1, 1},
                     {inf, 0, 0, inf, nan}, {{inf, 0, 0, inf, nan}});
    check_by_hand<T>([](const auto& in) { return pow(in[0], 0.5); }, {{0}}, {1}, {0}, {{inf}});
    const double most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    check_by_hand<T>([](const auto& in) { return in[0] * in[1]; }, {{most, least}, {2, 0.5}}, {1, 1}, {inf, least / 2},
                     {{2, 0.5}, {most, least}});
    check_by_hand<T>([](const auto& in) { return log(exp(in[0])); }, {{80, -80}}, {1, 1}, {80, -80}, {{1, 1}});
}

TEMPLATE_TEST_CASE("elementwise: operands broadcast and gradients are summed back", "[engine]", float, double) {
    using T = TestType;
    const Tensor<T> column(of<T>({2, 1}, {1, 10}), true), row(of<T>({3}, {1, 2, 3}), true);
    const Tensor<T> number(of<T>(Shape{}, {2}), true);
    const Tensor<T> y = column * row / number;
    CHECK(y.shape() == Shape{2, 3});
    check_close(y.value(), of<T>({2, 3}, {0.5, 1, 1.5, 5, 10, 15}), 1e-6);
    backward(y, of<T>({2, 3}, {1, 0, 0, 0, 2, 4}));
    check_close(column.grad(), of<T>({2, 1}, {0.5, 2 + 6}), 1e-6);
    check_close(row.grad(), of<T>({3}, {0.5, 10, 20}), 1e-6);
    check_close(number.grad(), of<T>(Shape{}, {-(0.5 + 20 + 60) / 2}), 1e-6);
}

TEST_CASE("elementwise: shapes that do not broadcast are refused, naming op and shapes", "[engine]") {
    const Tensor<double> a(Array<double>({2, 3}, 1.0)), b(Array<double>({2}, 1.0));
    CHECK_THROWS_WITH(add(a, b), ContainsSubstring("add:") && ContainsSubstring("(2, 3) and (2,)"));
    CHECK_THROWS_WITH(sub(b, a), ContainsSubstring("sub:") && ContainsSubstring("(2,) and (2, 3)"));
    CHECK_THROWS_WITH(mul(a, b), ContainsSubstring("mul:") && ContainsSubstring("(2, 3)"));
    CHECK_THROWS_WITH(div(a, b), ContainsSubstring("div:") && ContainsSubstring("(2, 3)"));
}

TEST_CASE("elementwise: float agrees with double on ragged rows", "[engine]") {
    for (const std::size_t n : kRagged) {
        const Shape s{n}, m{3, n};
        check_float_against_double([](const auto& in) { return in[0] + in[1]; }, {m, s});
        check_float_against_double([](const auto& in) { return in[0] - in[1]; }, {s, m});
        check_float_against_double([](const auto& in) { return in[0] * in[1]; }, {m, {3, 1}});
        check_float_against_double([](const auto& in) { return in[0] / in[1]; }, {m, s}, positive);
        check_float_against_double([](const auto& in) { return affine(neg(in[0]), -0.3, 2); }, {s});
        check_float_against_double([](const auto& in) { return exp(in[0]); }, {s});
        check_float_against_double([](const auto& in) { return log(in[0]); }, {s}, positive);
        check_float_against_double([](const auto& in) { return sqrt(in[0]); }, {s}, positive);
        check_float_against_double([](const auto& in) { return pow(in[0], 2.5); }, {s}, positive);
        check_float_against_double([](const auto& in) { return in[0] * transpose(in[1], 0, 1); }, {m, {n, 3}});
        check_float_against_double([](const auto& in) { return exp(slice(in[0], 1, 0, 2 * 3, 2)); }, {{n, 6}});
    }
}

TEMPLATE_TEST_CASE("elementwise: an element's bits do not depend on its place", "[engine]", float, double) {
    using T = TestType;
    const Tensor<T> x(random_array<T>({129}, 1));
    const ConstArray<T> whole = exp(tanh(x) * x + x).value();
    for (std::size_t begin = 0; begin < 129; begin += 11) {
        for (std::size_t end = begin; end <= 129; end += 13) {
            const Tensor<T> part(x.value().sliced(0, begin, end).clone());
            CHECK(same_bits(exp(tanh(part) * part + part).value(), whole.sliced(0, begin, end)));
        }
    }
    const Tensor<T> large(random_array<T>({100003}, 2), true);
    check_same_with_any_threads("elementwise", [&] {
        return all_of(
            run<T>([](const auto& in) { return exp(affine(in[0] * in[0], -0.5, 1)) / in[0]; }, {large.value()}));
    });
}
