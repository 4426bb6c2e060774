// Activations: golden values, slopes, tails and kinks, and float against double.
#include "engine/ops/activation.h"

#include "engine/ops/operators.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

template <class T, class F>
void check_points(const char* name, const F& f, const std::vector<double>& x, const std::vector<double>& y,
                  const std::vector<double>& slope) {
    INFO(name);
    const auto result = run<T>([&f](const auto& in) { return f(in[0]); }, {of<T>(x)}, Array<T>({x.size()}, T{1}));
    const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-12;
    check_close(result.value, of<T>(y), tolerance);
    check_close(result.grads[0], of<T>(slope), tolerance, "slope");
}

// Finite differences are blind to an op whose value is wrong in the same way as its gradient: the formula in <cmath>.
template <class F>
void check_formula(const char* name, const F& f, double (*formula)(double), double tolerance) {
    INFO(name);
    Array<double> x({2001}), expected({2001});
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = (static_cast<double>(i) - 1000) / 125;
        expected.data()[i] = formula(x.data()[i]);
    }
    const ConstArray<double> y = f(Tensor<double>(x)).value();
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(y.data()[i] - expected.data()[i]));
    CHECK(worst < tolerance);
}

}  // namespace

TEMPLATE_TEST_CASE("activation: golden values and slopes", "[engine]", float, double) {
    using T = TestType;
    const double s = 1 / (1 + std::exp(-1.0)), t = std::tanh(1.0), pdf = std::exp(-0.5) / std::sqrt(2 * M_PI);
    check_points<T>("tanh", [](const auto& x) { return tanh(x); }, {0, 1, -1}, {0, t, -t}, {1, 1 - t * t, 1 - t * t});
    check_points<T>("sigmoid", [](const auto& x) { return sigmoid(x); }, {0, 1, -1}, {0.5, s, 1 - s},
                    {0.25, s * (1 - s), s * (1 - s)});
    check_points<T>("relu", [](const auto& x) { return relu(x); }, {-2, 0, 3}, {0, 0, 3}, {0, 0, 1});
    check_points<T>("silu", [](const auto& x) { return silu(x); }, {0, 1, -1}, {0, s, s - 1},
                    {0.5, s + s * (1 - s), 1 - s - s * (1 - s)});
    check_points<T>("gelu", [](const auto& x) { return gelu(x); }, {0, 1, -0.5},
                    {0, 0.8411919906082768, -0.15428599017485606}, {0.5, 1.0829640838457826, 0.13263009646535764});
    check_points<T>("gelu_erf", [](const auto& x) { return gelu_erf(x); }, {0, 1}, {0, 0.8413447460685429},
                    {0.5, 0.8413447460685429 + pdf});
    check_points<T>("softplus", [](const auto& x) { return softplus(x); }, {0, 1, -1},
                    {std::log(2.0), 1 - std::log(s), -std::log(s)}, {0.5, s, 1 - s});
    check_points<T>("leaky_relu", [](const auto& x) { return leaky_relu(x); }, {-2, 0, 3}, {-0.02, 0, 3},
                    {0.01, 0.01, 1});
    check_points<T>("leaky_relu 0.5", [](const auto& x) { return leaky_relu(x, 0.5); }, {-2, 0, 3}, {-1, 0, 3},
                    {0.5, 0.5, 1});
    const double e = std::exp(-1.0);
    check_points<T>("elu", [](const auto& x) { return elu(x); }, {-1, 0, 3}, {e - 1, 0, 3}, {e, 1, 1});
    check_points<T>("elu 2", [](const auto& x) { return elu(x, 2); }, {-1, 0, 3}, {2 * e - 2, 0, 3}, {2 * e, 2, 1});
}

TEMPLATE_TEST_CASE("activation: softplus, leaky_relu and elu far from zero", "[engine]", float, double) {
    using T = TestType;
    const double inf = kInfinity, nan = std::nan("");
    check_points<T>("softplus", [](const auto& x) { return softplus(x); }, {1000, -1000, inf, -inf, nan},
                    {1000, 0, inf, 0, nan}, {1, 0, 1, 0, nan});
    check_points<T>("leaky_relu", [](const auto& x) { return leaky_relu(x, 0.5); }, {1000, -1000, inf, -inf, nan},
                    {1000, -500, inf, -inf, nan}, {1, 0.5, 1, 0.5, nan});
    check_points<T>("elu", [](const auto& x) { return elu(x, 3); }, {1000, -1000, inf, -inf, nan},
                    {1000, -3, inf, -3, nan}, {1, 0, 1, 0, nan});
    const Tensor<T> small(of<T>({-30}));  // e^-30: no difference of large numbers
    CHECK(softplus(small).item() == Approx(std::exp(-30.0)).epsilon(1e-6));
    for (const std::size_t n : kRagged) {
        check_float_against_double([](const auto& in) { return softplus(in[0]) + elu(leaky_relu(in[0])); }, {{3, n}});
    }
}

TEST_CASE("activation: values follow the formulas of <cmath>", "[engine]") {
    check_formula(
        "tanh", [](const auto& x) { return tanh(x); }, [](double x) { return std::tanh(x); }, 1e-14);
    check_formula(
        "sigmoid", [](const auto& x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, 1e-14);
    check_formula(
        "silu", [](const auto& x) { return silu(x); }, [](double x) { return x / (1 + std::exp(-x)); }, 1e-13);
    const auto by_tanh = [](double x) {
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    };
    check_formula(
        "gelu", [](const auto& x) { return gelu(x); }, by_tanh, 1e-13);
    check_formula(
        "gelu_erf", [](const auto& x) { return gelu_erf(x); },
        [](double x) { return x * std::erfc(-x / std::sqrt(2)) / 2; }, 1e-13);
}

TEMPLATE_TEST_CASE("activation: far from zero they are flat or the identity, never NaN", "[engine]", float, double) {
    using T = TestType;
    for (const double far : {100.0, 1e3, 1e4, 1e15, 1e30}) {
        INFO(far);
        check_points<T>("tanh", [](const auto& x) { return tanh(x); }, {far, -far}, {1, -1}, {0, 0});
        check_points<T>("sigmoid", [](const auto& x) { return sigmoid(x); }, {far, -far}, {1, 0}, {0, 0});
        check_points<T>("relu", [](const auto& x) { return relu(x); }, {far, -far}, {far, 0}, {1, 0});
        check_points<T>("silu", [](const auto& x) { return silu(x); }, {far, -far}, {far, 0}, {1, 0});
        check_points<T>("gelu", [](const auto& x) { return gelu(x); }, {far, -far}, {far, 0}, {1, 0});
        check_points<T>("gelu_erf", [](const auto& x) { return gelu_erf(x); }, {far, -far}, {far, 0}, {1, 0});
    }
}

TEMPLATE_TEST_CASE("activation: the gradient is multiplied by the cotangent", "[engine]", float, double) {
    using T = TestType;
    const auto check_linear = [](const auto& f) {
        const std::vector<Array<T>> at = {random_array<T>({33}, 1)};
        const auto once = run<T>(f, at, Array<T>({33}, T{1})), tripled = run<T>(f, at, Array<T>({33}, T{-3}));
        const auto nothing = run<T>(f, at, Array<T>({33}, T{0}));
        check_close(tripled.grads[0], Array<T>(T{-3} * once.grads[0]), 1e-6);
        CHECK(same_bits(Array<T>(xt::abs(nothing.grads[0])), Array<T>({33}, T{0})));
    };
    check_linear([](const auto& in) { return tanh(in[0]); });
    check_linear([](const auto& in) { return sigmoid(in[0]); });
    check_linear([](const auto& in) { return relu(in[0]); });
    check_linear([](const auto& in) { return silu(in[0]); });
    check_linear([](const auto& in) { return gelu(in[0]); });
    check_linear([](const auto& in) { return gelu_erf(in[0]); });
}

TEST_CASE("activation: float agrees with double on ragged rows", "[engine]") {
    for (const std::size_t n : kRagged) {
        for (const Shape& shape : {Shape{n}, Shape{2, n}}) {
            check_float_against_double([](const auto& in) { return tanh(in[0]); }, {shape});
            check_float_against_double([](const auto& in) { return sigmoid(in[0]); }, {shape});
            check_float_against_double([](const auto& in) { return relu(in[0]); }, {shape}, away_from_zero);
            check_float_against_double([](const auto& in) { return silu(in[0]); }, {shape});
            check_float_against_double([](const auto& in) { return gelu(in[0]); }, {shape});
            check_float_against_double([](const auto& in) { return gelu_erf(in[0]); }, {shape});
        }
    }
}

TEST_CASE("gelu: an input that is given up is written over, one that is held is not", "[engine]") {
    const Tensor<float> held(Array<float>({3, 40}, 0.5f));
    const Tensor<float> y = gelu(held);
    CHECK(y.value().data() != held.value().data());
    CHECK(held.value().data()[0] == 0.5f);

    Tensor<float> given(Array<float>({3, 40}, 0.5f));
    const float* const place = given.value().data();
    const Tensor<float> z = gelu(std::move(given));
    CHECK(z.value().data() == place);
    CHECK(z.value().data()[119] == y.value().data()[119]);
}
