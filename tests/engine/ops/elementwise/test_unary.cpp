// Functions of one number: cases outside the table of op cases, extremes, errors.
#include "engine/ops/elementwise/unary.h"

TEMPLATE_TEST_CASE("unary: extremes, powers of 0, roots below 0, an open clamp", "[engine]", float, double) {
    const double inf = kInfinity, nan = std::nan("");
    const auto to_the = [](double p) { return [p](const auto& x) { return pow(x, p); }; };
    check_points<T>("pow 0", to_the(0), {2, 0}, {1, 1}, {0, 0});
    check_points<T>("pow 1", to_the(1), {2, 0}, {2, 0}, {1, 1});
    check_points<T>("pow 0.5", to_the(0.5), {4, -1, 0}, {2, nan, 0}, {0.25, nan, inf});
    check_points<T>("log", log<T>, {0, -1, inf}, {-inf, nan, inf}, {inf, -1, 0});
    check_points<T>("sqrt", sqrt<T>, {0, -1, inf}, {0, nan, inf}, {inf, nan, 0});
    check_points<T>("exp", exp<T>, {1000, -1000, -inf, inf, nan}, {inf, 0, 0, inf, nan}, {inf, 0, 0, inf, nan});
    check_points<T>("log exp", [](const auto& x) { return log(exp(x)); }, {80, -80}, {80, -80}, {1, 1});
    check_points<T>("abs", [](const auto& x) { return abs(x); }, {-inf, inf, nan}, {inf, inf, nan}, {-1, 1, nan});
    check_by_hand<T>([](const auto& in) { return abs(in[0]); }, {{0, 0}}, {inf, 0}, {0, 0}, {{nan, 0}});  // 0 dy
    check_points<T>("sin", sin<T>, {inf, -inf, nan}, {nan, nan, nan}, {nan, nan, nan});
    check_points<T>("cos", cos<T>, {inf, -inf, nan}, {nan, nan, nan}, {nan, nan, nan});
    check_points<T>("log1p", log1p<T>, {-1, -2, inf, nan}, {-inf, nan, inf, nan}, {inf, -1, 0, nan});
    check_points<T>("expm1", expm1<T>, {-inf, -1000, 1000, inf, nan}, {-1, -1, inf, inf, nan}, {0, 0, inf, inf, nan});
    check_points<T>("clamp", [](const auto& x) { return clamp(x, -1, 1); }, {-inf, inf, nan}, {-1, 1, nan},
                    {0, 0, nan});
    check_points<T>("clamp above", [](const auto& x) { return clamp(x, -kInfinity, 0.5); }, {-3, 0.25, 100},
                    {-3, 0.25, 0.5}, {1, 1, 0});
}

TEST_CASE("unary: bounds that are none are refused", "[engine]") {
    const Tensor<double> a(Array<double>({2, 3}, 1.0));
    CHECK_THROWS_WITH(clamp(a, std::nan("")), contains("clamp: numbers are required"));
}

TEMPLATE_TEST_CASE("unary: an element's bits do not depend on its place", "[engine]", float, double) {
    const Tensor<T> x(random_array<T>({129}, 1));
    const ConstArray<T> whole = exp(tanh(x) * x + x).value();
    for (std::size_t begin = 0; begin < 129; begin += 11)
        for (std::size_t end = begin; end <= 129; end += 13) {
            const Tensor<T> part(x.value().sliced(0, begin, end).clone());
            CHECK(same_bits(exp(tanh(part) * part + part).value(), whole.sliced(0, begin, end)));
        }
}
