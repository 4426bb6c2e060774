// Functions of one number: cases outside the table of op cases, extremes, small arguments, errors.
#include "engine/ops/elementwise/unary.h"

#include "engine/ops.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEMPLATE_TEST_CASE("unary: powers of 0, roots of negative numbers, a clamp without a lower bound", "[engine]", float,
                   double) {
    using T = TestType;
    const double nan = std::nan("");
    check_by_hand<T>([](const auto& in) { return pow(in[0], 0); }, {{2, 0}}, {1, 1}, {1, 1}, {{0, 0}});
    check_by_hand<T>([](const auto& in) { return pow(in[0], 1); }, {{2, 0}}, {3, 4}, {2, 0}, {{3, 4}});
    check_by_hand<T>([](const auto& in) { return pow(in[0], 0.5); }, {{4, -1, 0}}, {1, 1, 1}, {2, nan, 0},
                     {{0.25, nan, kInfinity}});
    check_by_hand<T>([](const auto& in) { return clamp(in[0], -kInfinity, 0.5); }, {{-3, 0.25, 100}}, {1, 2, 3},
                     {-3, 0.25, 0.5}, {{1, 2, 0}});
}

TEMPLATE_TEST_CASE("unary: extremes", "[engine]", float, double) {
    using T = TestType;
    const double inf = kInfinity, nan = std::nan("");
    check_by_hand<T>([](const auto& in) { return log(in[0]); }, {{0, -1, inf}}, {1, 1, 1}, {-inf, nan, inf},
                     {{inf, -1, 0}});
    check_by_hand<T>([](const auto& in) { return sqrt(in[0]); }, {{0, -1, inf}}, {1, 1, 1}, {0, nan, inf},
                     {{inf, nan, 0}});
    check_by_hand<T>([](const auto& in) { return exp(in[0]); }, {{1000, -1000, -inf, inf, nan}}, {1, 1, 1, 1, 1},
                     {inf, 0, 0, inf, nan}, {{inf, 0, 0, inf, nan}});
    check_by_hand<T>([](const auto& in) { return log(exp(in[0])); }, {{80, -80}}, {1, 1}, {80, -80}, {{1, 1}});
    check_by_hand<T>([](const auto& in) { return abs(in[0]); }, {{-inf, inf, nan}}, {5, 7, 9}, {inf, inf, nan},
                     {{-5, 7, nan}});
    check_by_hand<T>([](const auto& in) { return abs(in[0]); }, {{0, 0}}, {inf, 0}, {0, 0}, {{nan, 0}});  // 0 dy
    for (const bool sine : {true, false})
        check_by_hand<T>([=](const auto& in) { return sine ? sin(in[0]) : cos(in[0]); }, {{inf, -inf, nan}}, {1, 1, 1},
                         {nan, nan, nan}, {{nan, nan, nan}});
    check_by_hand<T>([](const auto& in) { return log1p(in[0]); }, {{-1, -2, inf, nan}}, {1, 1, 1, 1},
                     {-inf, nan, inf, nan}, {{inf, -1, 0, nan}});
    check_by_hand<T>([](const auto& in) { return expm1(in[0]); }, {{-inf, -1000, 1000, inf, nan}}, {1, 1, 1, 1, 1},
                     {-1, -1, inf, inf, nan}, {{0, 0, inf, inf, nan}});
    check_by_hand<T>([](const auto& in) { return clamp(in[0], -1, 1); }, {{-inf, inf, nan}}, {1, 1, 1}, {-1, 1, nan},
                     {{0, 0, nan}});
}

TEMPLATE_TEST_CASE("unary: small arguments keep their digits", "[engine]", float, double) {
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

TEST_CASE("unary: bounds that are none are refused", "[engine]") {
    const Tensor<double> a(Array<double>({2, 3}, 1.0));
    CHECK_THROWS_WITH(clamp(a, std::nan("")), contains("clamp: numbers are required"));
}

TEMPLATE_TEST_CASE("unary: an element's bits do not depend on its place", "[engine]", float, double) {
    using T = TestType;
    const Tensor<T> x(random_array<T>({129}, 1));
    const ConstArray<T> whole = exp(tanh(x) * x + x).value();
    for (std::size_t begin = 0; begin < 129; begin += 11) {
        for (std::size_t end = begin; end <= 129; end += 13) {
            const Tensor<T> part(x.value().sliced(0, begin, end).clone());
            CHECK(same_bits(exp(tanh(part) * part + part).value(), whole.sliced(0, begin, end)));
        }
    }
}
