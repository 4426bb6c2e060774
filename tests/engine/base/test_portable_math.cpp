// Elementary functions in double against <cmath> in long double, and of float vectors against single numbers.
// test_full_range checks their errors at every exponent, test_every_op their bits.
#include "engine/base/portable_math.h"

// |y - exact| in units in the last place of the larger of exact and `least`.
static double error_in_ulps(double y, long double exact, long double least = 0) {
    int exponent = 0;
    std::frexp(std::max(std::abs(exact), least), &exponent);
    return static_cast<double>(std::abs(static_cast<long double>(y) - exact) / std::ldexp(1.0L, exponent - 53));
}

TEST_CASE("portable math: sines and cosines of all angles of a long context, and powers", "[engine]") {
    double worst = 0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
        const double x = (random_uniform({1, 0}, i) - 0.5) * std::exp2(static_cast<double>(i % 32));
        const auto [sine, cosine] = portable::sin_cos(x);
        worst = std::max(worst, error_in_ulps(sine, std::sin(static_cast<long double>(x)), 1e-8L));
        worst = std::max(worst, error_in_ulps(cosine, std::cos(static_cast<long double>(x)), 1e-8L));
    }
    CHECK_ALL(worst < 1.5, portable::sin_cos(0.0) == std::pair(0.0, 1.0), portable::cos(std::numbers::pi) == -1);
    CHECK(portable::sin(std::numbers::pi / 2) == 1);
    for (int n = -1022; n < 1024; ++n) CHECK(portable::exp2(n) == std::ldexp(1.0, n));
    double worst_power = 0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
        const double x = std::exp(20 * (random_uniform({2, 0}, i) - 0.5)), y = 10 * (random_uniform({2, 1}, i) - 0.5);
        const auto wide_x = static_cast<long double>(x), wide_y = static_cast<long double>(y);
        const double allowed = 2 + std::abs(y * std::log(x));
        worst_power = std::max(worst_power, error_in_ulps(portable::pow(x, y), std::pow(wide_x, wide_y)) / allowed);
        worst_power = std::max(worst_power, error_in_ulps(portable::exp2(y), std::exp2(wide_y)) / 2);
        worst_power = std::max(worst_power, error_in_ulps(portable::log2(x), std::log2(wide_x), 1e-3L) / 2);
    }
    CHECK_ALL(worst_power <= 1, portable::pow(7.0, 0.0) == 1);
}

TEST_CASE("portable math: numbers have the bits of a vector's lanes", "[engine]") {
    Array<float> x({4096});
    for (std::size_t i = 0; i < x.size(); ++i)
        x.data()[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i * 1048573));  // of every exponent and sign
    const auto same = [&](const char* name, const Tensor<float>& y, float (*of)(const float&)) {
        INFO(name);
        std::size_t equal = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const float a = y.value().data()[i], b = of(x.data()[i]);
            equal +=
                std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
        }
        CHECK(equal == x.size());
    };
    const Tensor<float> in(x);
    same("exp", exp(in), portable::exp<float>), same("expm1", expm1(in), portable::expm1<float>);
    same("log", log(in), portable::log<float>), same("log1p", log1p(in), portable::log1p<float>);
    same("tanh", tanh(in), portable::tanh<float>), same("sigmoid", sigmoid(in), portable::sigmoid<float>);
    same("silu", silu(in), portable::silu<float>), same("erf", erf(in), portable::erf<float>);
}
