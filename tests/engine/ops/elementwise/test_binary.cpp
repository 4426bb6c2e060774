// Functions of two numbers: ties, extremes, broadcasting, errors.
#include "engine/ops/elementwise/binary.h"

TEMPLATE_TEST_CASE("binary: ties and extremes", "[engine]", float, double) {
    const double inf = kInfinity, nan = std::nan("");
    const double most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    check_by_hand<T>([](const auto& in) { return in[0] / in[1]; }, {{1, -1, 0, 1}, {0, 0, 0, inf}}, {1, 1, 1, 1},
                     {inf, -inf, nan, 0}, {{inf, inf, inf, 0}, {-inf, inf, nan, 0}});
    check_by_hand<T>([](const auto& in) { return in[0] * in[1]; }, {{most, least}, {2, 0.5}}, {1, 1}, {inf, least / 2},
                     {{2, 0.5}, {most, least}});
    check_by_hand<T>([](const auto& in) { return minimum(in[0], in[1]); }, {{1, 5, 3}, {2, 4, 3}}, {10, 20, 30},
                     {1, 4, 3}, {{10, 0, 15}, {0, 20, 15}});
    for (const bool larger : {true, false}) {
        const auto f = [larger](const auto& in) { return larger ? maximum(in[0], in[1]) : minimum(in[0], in[1]); };
        check_by_hand<T>(f, {{nan, 1, nan}, {1, nan, nan}}, {1, 1, 1}, {nan, nan, nan},
                         {{nan, nan, nan}, {nan, nan, nan}});
        check_by_hand<T>(f, {{inf, -inf}, {inf, -inf}}, {2, 4}, {inf, -inf}, {{1, 2}, {1, 2}});
    }
    check_by_hand<T>([](const auto& in) { return maximum(in[0], in[1]); }, {{inf, -inf}, {1, 1}}, {2, 4}, {inf, 1},
                     {{2, 0}, {0, 4}});
    // 0^2, 0^0, 0^-1, (-2)^2, 2^0, NaN^0, 1^NaN as in IEEE 754; gradients as in PyTorch
    check_by_hand<T>([](const auto& in) { return pow(in[0], in[1]); },
                     {{0, 0, 0, -2, 2, nan, 1}, {2, 0, -1, 2, 0, 0, nan}}, {1, 1, 1, 1, 1, 1, 1},
                     {0, 1, inf, 4, 1, 1, 1}, {{0, 0, -inf, -4, 0, 0, nan}, {0, 0, -inf, nan, std::log(2.0), nan, 0}});
}

TEST_CASE("binary: shapes that do not broadcast are refused, naming op and shapes", "[engine]") {
    const Tensor<double> a(Array<double>({2, 3}, 1.0)), b(Array<double>({2}, 1.0));
    const auto refused = [&](const char* op, const auto& f) {
        INFO(op);
        CHECK_THROWS_WITH(f(a, b), contains(std::string(op) + ":", "(2, 3) and (2,)"));
    };
    refused("add", [](auto x, auto y) { return add(x, y); }), refused("sub", [](auto x, auto y) { return sub(x, y); });
    refused("mul", [](auto x, auto y) { return mul(x, y); }), refused("div", [](auto x, auto y) { return div(x, y); });
    refused("maximum", [](auto x, auto y) { return maximum(x, y); });
    refused("minimum", [](auto x, auto y) { return minimum(x, y); });
    refused("pow", [](auto x, auto y) { return pow(x, y); });
}
