// Functions of one number against <cmath> in long double, in units in the last place, at every exponent of the type;
// and norms and variances of rows whose squares over- or underflow.
#include "engine/fused/norm.h"

// Some numbers of every exponent and sign, including those around the limits of e^x, zeros and infinities.
template <class T>
static Array<T> numbers_of_every_exponent() {
    using Limits = std::numeric_limits<T>;
    std::vector<double> values = {
        0.0, -0.0, Limits::infinity(), -Limits::infinity(), Limits::max(), Limits::denorm_min()};
    const auto add = [&](double x) { values.insert(values.end(), {x, -x}); };
    for (int e = Limits::min_exponent - Limits::digits; e < Limits::max_exponent; ++e)
        for (const double m : {1.0, 1.23456789, 1.5, 1.987654321})
            add(static_cast<double>(static_cast<T>(std::ldexp(m, e))));
    const double end = sizeof(T) == 4 ? 112 : 760;
    for (int i = 0; i < 4000; ++i) add(static_cast<double>(static_cast<T>(end * (i + 0.37) / 4000)));
    return of<T>(values);
}

// |y - exact| in units in the last place of exact; infinity if only one of them is a number.
template <class T>
static double ulps(T y, long double exact) {
    using Limits = std::numeric_limits<T>;
    const T nearest = static_cast<T>(exact);
    if (y == nearest || (std::isnan(y) && std::isnan(exact))) return 0;
    if (!std::isfinite(y) || !std::isfinite(nearest)) return Limits::infinity();
    int exponent = 0;
    std::frexp(exact, &exponent);
    const long double unit = std::ldexp(1.0L, std::max(exponent, Limits::min_exponent) - Limits::digits);
    return static_cast<double>(std::abs(static_cast<long double>(y) - exact) / unit);
}

template <class T, class Op, class Exact>
static void check_ulps(const char* name, double most, const Op& op, const Exact& exact) {
    const Array<T> x = numbers_of_every_exponent<T>();
    const ConstArray<T> y = op(Tensor<T>(x)).value();
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = ulps(y.data()[i], exact(static_cast<long double>(x.data()[i])));
        INFO(name << " of " << x.data()[i] << " is " << y.data()[i] << ", off by " << error << " ulp");
        if (!(error <= most)) CHECK(error <= most);
    }
}

TEMPLATE_TEST_CASE("full range: elementwise functions are <cmath>'s at every exponent", "[engine]", float, double) {
    const auto check = [](const char* name, double most, auto op, auto exact) { check_ulps<T>(name, most, op, exact); };
    using X = Tensor<T>;
    using L = long double;
    const auto sigmoid_of = [](L v) { return 1 / (1 + std::exp(-v)); };
    check("exp", 2, exp<T>, [](L v) { return std::exp(v); });
    check("expm1", 2, expm1<T>, [](L v) { return std::expm1(v); });
    check("log", 2, log<T>, [](L v) { return std::log(v); });
    check("log1p", 2, log1p<T>, [](L v) { return std::log1p(v); });
    check("sqrt", 0.5, sqrt<T>, [](L v) { return std::sqrt(v); });
    check("sin", 2, sin<T>, [](L v) { return std::sin(v); }), check("cos", 2, cos<T>, [](L v) { return std::cos(v); });
    check("tanh", 2, tanh<T>, [](L v) { return std::tanh(v); }), check("sigmoid", 3, sigmoid<T>, sigmoid_of);
    check("silu", 4, silu<T>, [&](L v) { return v == -INFINITY ? static_cast<L>(NAN) : v * sigmoid_of(v); });
    check("softplus", 3, softplus<T>,
          [](L v) { return v > 0 ? v + std::log1p(std::exp(-v)) : std::log1p(std::exp(v)); });
    check(
        "elu", 2, [](const X& x) { return elu(x); }, [](L v) { return v > 0 ? v : std::expm1(v); });
    check(
        "x squared", 2, [](const X& x) { return pow(x, 2); }, [](L v) { return v * v; });
}

// tests/reference/make_elementary_reference.py computes them with mpmath. Where a formula subtracts from a number of
// about 1, errors are in units of its last place if the result is smaller.
TEMPLATE_TEST_CASE("full range: values and derivatives are mpmath's at all magnitudes", "[engine]", float, double) {
    using Op = Tensor<T> (*)(const Tensor<T>&);
    const Op silu_of = [](const Tensor<T>&x) { return silu(x); }, elu_of = [](const Tensor<T>&x) { return elu(x); };
    const Op squared_relu_of = [](const Tensor<T>& x) { return squared_relu(x); };
    const std::vector<std::string> names = {
        "exp",   "exp2",    "expm1",       "log",       "log2",         "log10",      "log1p", "sqrt", "rsqrt",
        "sin",   "cos",     "tan",         "asin",      "acos",         "atan",       "sinh",  "cosh", "asinh",
        "acosh", "atanh",   "softsign",    "erf",       "softplus",     "logsigmoid", "elu",   "selu", "tanh",
        "silu",  "sigmoid", "hardsigmoid", "hardswish", "squared_relu", "mish"};
    const std::vector<Op> ops = {
        exp<T>,   exp2<T>,    expm1<T>,       log<T>,       log2<T>,         log10<T>,      log1p<T>, sqrt<T>, rsqrt<T>,
        sin<T>,   cos<T>,     tan<T>,         asin<T>,      acos<T>,         atan<T>,       sinh<T>,  cosh<T>, asinh<T>,
        acosh<T>, atanh<T>,   softsign<T>,    erf<T>,       softplus<T>,     logsigmoid<T>, elu_of,   selu<T>, tanh<T>,
        silu_of,  sigmoid<T>, hardsigmoid<T>, hardswish<T>, squared_relu_of, mish<T>};
    REQUIRE(names.size() == ops.size());
    const std::set<std::string> of_one = {"tanh", "sigmoid", "hardswish", "silu", "mish"};
    const nlohmann::json all = reference("elementary.json");
    for (std::size_t n = 0; n < names.size(); ++n) {
        const std::string& name = names[n];
        const double most = 2, most_derivative = name == "silu" ? 16 : name == "mish" ? 4 : 2;
        const nlohmann::json &xs = all["x"], &values = all[name]["y"], &slopes = all[name]["dy"];
        std::vector<double> inside, y, dy;
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const double x = xs[i];
            if (values[i].is_null() || slopes[i].is_null() || static_cast<double>(static_cast<T>(x)) != x) continue;
            inside.push_back(x), y.push_back(values[i]), dy.push_back(slopes[i]);
        }
        REQUIRE(inside.size() > 20);
        Tensor<T> x(of<T>(inside), true);
        const Tensor<T> out = ops[n](x);
        sum(out).backward();
        const Array<T> got = x.grad();
        double worst = 0, worst_derivative = 0, at = 0, at_derivative = 0;
        const auto unit_of = [](double v) {
            return std::max(std::abs(v), static_cast<double>(std::numeric_limits<T>::min()));
        };
        for (std::size_t i = 0; i < inside.size(); ++i) {
            const double error = ulps(out.value().data()[i], static_cast<long double>(y[i]));
            double slope = ulps(got.data()[i], static_cast<long double>(dy[i]));
            if (std::isfinite(slope) && std::abs(dy[i]) < 1 && of_one.contains(name)) slope *= unit_of(dy[i]);
            if (error > worst) worst = error, at = inside[i];
            if (slope > worst_derivative) worst_derivative = slope, at_derivative = inside[i];
        }
        INFO(name << ": value off by " << worst << " ulp at " << at << ", derivative by " << worst_derivative << " at "
                  << at_derivative);
        CHECK_ALL(worst <= most, worst_derivative <= most_derivative);
    }
}

TEMPLATE_TEST_CASE("full range: odd functions keep the sign of zero, acosh starts at 1", "[engine]", float, double) {
    const Tensor<T> zeros = Tensor<T>::from({T(-0.0), T(0.0)});
    const auto keeps = [&](const char* name, const Tensor<T>& y) {
        INFO(name);
        check_equal(y.value(), {0, 0});
        CHECK_ALL(std::signbit(y.value().data()[0]), !std::signbit(y.value().data()[1]));
    };
    keeps("expm1", expm1(zeros)), keeps("log1p", log1p(zeros)), keeps("tanh", tanh(zeros)), keeps("sin", sin(zeros));
    keeps("tan", tan(zeros)), keeps("asin", asin(zeros)), keeps("atan", atan(zeros)), keeps("sinh", sinh(zeros));
    keeps("asinh", asinh(zeros)), keeps("atanh", atanh(zeros)), keeps("erf", erf(zeros)), keeps("sqrt", sqrt(zeros));
    keeps("softsign", softsign(zeros)), keeps("silu", silu(zeros)), keeps("gelu", gelu(zeros));
    keeps("gelu_erf", gelu_erf(zeros)), keeps("mish", mish(zeros)), keeps("elu", elu(zeros)),
        keeps("selu", selu(zeros));
    keeps("celu", celu(zeros)), keeps("softcap", softcap(zeros, 15)), keeps("hardswish", hardswish(zeros));
    keeps("leaky_relu", leaky_relu(zeros, 0.1)), keeps("scale", scale(zeros, 2)), keeps("trunc", trunc(zeros));
    keeps("round", round(zeros)), keeps("neg", neg(neg(zeros)));
    CHECK(!std::signbit(sign(zeros).value().data()[0]));  // as in PyTorch
    for (const double x : {0.9, 0.0, -1.0, -2.0, -1e30, -1e38})
        CHECK(std::isnan(acosh(Tensor<T>::from(static_cast<T>(x))).item()));
    Tensor<T> x = Tensor<T>::from({-2, -1, T(0.5), 1, 2}, true);
    backward(sum(acosh(x)));
    const T* const dx = x.grad().data();  // as PyTorch has it
    CHECK_ALL(dx[0] == dx[4], dx[4] == Approx(1 / std::sqrt(3.0)), std::isinf(dx[1]), std::isnan(dx[2]),
              std::isinf(dx[3]));
}

// Where the formula subtracts nearly equal numbers, the error is in units of x's last place.
TEMPLATE_TEST_CASE("full range: both gelus and binary cross-entropy at every exponent", "[engine]", float, double) {
    const Array<T> x = numbers_of_every_exponent<T>();
    const Tensor<T> in(x, true);
    const Tensor<T> tanh_form = gelu(in), erf_form = gelu_erf(in);
    backward(sum(add(tanh_form, erf_form)));
    constexpr long double c = 0.797884560802865355879892119868763737L;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const long double v = x.data()[i];
        if (std::isinf(v)) continue;
        INFO(x.data()[i]);
        const long double whole = std::max(std::abs(v), static_cast<long double>(std::numeric_limits<T>::min()));
        const long double most = 4 * whole * static_cast<long double>(std::numeric_limits<T>::epsilon());
        const long double exact_tanh = v / (1 + std::exp(-2 * c * (v + 0.044715L * v * v * v)));
        const long double exact_erf = v / 2 * std::erfc(-v / std::sqrt(2.0L));
        const bool near = std::abs(static_cast<long double>(tanh_form.value().data()[i]) - exact_tanh) <= most &&
                          std::abs(static_cast<long double>(erf_form.value().data()[i]) - exact_erf) <= most &&
                          std::isfinite(in.grad().data()[i]);
        if (!near) CHECK(near);
    }
    const Tensor<T> ones(Array<T>(x.shape(), T{1}));
    check_ulps<T>(
        "binary_cross_entropy_with_logits", 3,
        [&](const Tensor<T>& logits) { return binary_cross_entropy_with_logits(logits, ones, Reduction::none); },
        [](long double v) {
            return std::isinf(v) ? static_cast<long double>(NAN)
                   : v > 0       ? std::log1p(std::exp(-v))
                                 : -v + std::log1p(std::exp(v));
        });
}

TEMPLATE_TEST_CASE("full range: norms of rows whose squares over- or underflow", "[engine]", float, double) {
    const double large = sizeof(T) == 4 ? 1e30 : 1e300, small = sizeof(T) == 4 ? 1e-30 : 1e-300;
    const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-14;
    const std::vector<double> at = {1, -2, 4, 0.5, 3, -1, 0, 7, 2};
    const auto rows = [&](double factor) {
        std::vector<double> values = at;
        for (double& v : values) v *= factor;
        return of<T>(values);
    };
    const auto compare = [&](const auto& f, double power) {  // f(factor x) is factor^power f(x), its gradient likewise
        const auto one = run<T>(f, std::vector<Array<T>>{rows(1)}, ConstArray<T>());
        for (const double factor : {large, small}) {
            INFO("factor " << factor);
            const auto other = run<T>(f, std::vector<Array<T>>{rows(factor)}, ConstArray<T>());
            for (std::size_t i = 0; i < one.value.size(); ++i) {
                const double got = static_cast<double>(other.value.data()[i]) / (power == 1 ? factor : 1);
                CHECK_THAT(got, Catch::Matchers::WithinAbs(static_cast<double>(one.value.data()[i]), 4 * tolerance));
            }
            for (std::size_t i = 0; i < at.size(); ++i) {
                const double got = static_cast<double>(other.grads[0].data()[i]) * (power == 1 ? 1 : factor);
                CHECK_THAT(got,
                           Catch::Matchers::WithinAbs(static_cast<double>(one.grads[0].data()[i]), 10 * tolerance));
            }
        }
    };
    compare([](const auto& in) { return inkling::std(in[0]); }, 1);
    compare([](const auto& in) { return inkling::std(reshape(in[0], {3, 3}), {0}); }, 1);
    compare([](const auto& in) { return layer_norm(in[0], Tensor<T>(), Tensor<T>(), 0); }, 0);
    compare([](const auto& in) { return rms_norm(in[0], Tensor<T>(), 0); }, 0);
    const Tensor<T> x(rows(large));
    check_close(layer_norm(x, Tensor<T>(), Tensor<T>(), 1e-5).value(),
                layer_norm(Tensor<T>(rows(1)), Tensor<T>(), Tensor<T>(), 0).value(), tolerance);
    CHECK(std::isinf(var(x).item()));  // which is no number of this type
    CHECK(var(Tensor<T>(Array<T>({4}, T(large)))).item() == 0);
    CHECK(inkling::std(Tensor<T>(Array<T>({4}, std::numeric_limits<T>::max()))).item() == 0);
    CHECK(std::isnan(inkling::std(Tensor<T>(of<T>({1, NAN}))).item()));
    CHECK(std::isnan(inkling::std(Tensor<T>(of<T>({1, INFINITY}))).item()));
}
