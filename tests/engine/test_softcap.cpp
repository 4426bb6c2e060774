// softcap: the identity near zero, +-cap far away.
#include "engine/ops/activation.h"

#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEMPLATE_TEST_CASE("softcap: golden values and slopes", "[engine]", float, double) {
    using T = TestType;
    const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-12;
    const double t = std::tanh(0.2), u = std::tanh(-2.0);
    const auto at_15 =
        run<T>([](const auto& in) { return softcap(in[0], 15); }, {of<T>({0, 3, -30})}, of<T>({1, 1, 2}));
    check_close(at_15.value, of<T>({0, 15 * t, 15 * u}), tolerance);
    check_close(at_15.grads[0], of<T>({1, 1 - t * t, 2 * (1 - u * u)}), tolerance, "slope");
    // another cap, another function
    const auto at_2 = run<T>([](const auto& in) { return softcap(in[0], 2); }, {of<T>({3})}, of<T>({1}));
    check_close(at_2.value, of<T>({2 * std::tanh(1.5)}), tolerance);
}

TEMPLATE_TEST_CASE("softcap: far from zero it is flat, never beyond the cap, and NaN stays", "[engine]", float,
                   double) {
    using T = TestType;
    for (const double far : {1e3, 1e15, 1e30, kInfinity}) {
        INFO(far);
        const auto r = run<T>([](const auto& in) { return softcap(in[0], 15); }, {of<T>({far, -far})}, of<T>({1, 1}));
        check_equal(r.value, {15, -15});
        check_equal(r.grads[0], {0, 0});
    }
    CHECK(std::isnan(softcap(Tensor<T>(of<T>({std::nan("")})), 15).value()(0)));
}

TEST_CASE("softcap: float agrees with double on ragged rows", "[engine]") {
    for (const std::size_t n : kRagged)
        check_float_against_double([](const auto& in) { return softcap(in[0], 1.5); }, {Shape{3, n}});
}

TEST_CASE("softcap: a cap that is not above zero is refused", "[engine]") {
    const Tensor<float> x(Array<float>({2, 3}, 1.0f));
    for (const double cap : {0.0, -1.0, std::nan("")})
        CHECK_THROWS_WITH(softcap(x, cap), ContainsSubstring("softcap: a cap above 0") && ContainsSubstring("(2, 3)"));
}
