// squared_relu: max(x, 0)^2, smooth at 0.
#include "engine/ops/activation.h"

#include "engine/ops.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEMPLATE_TEST_CASE("squared_relu: golden values and slopes", "[engine]", float, double) {
    using T = TestType;
    const auto r = run<T>([](const auto& in) { return squared_relu(in[0]); }, {of<T>({-2, -0.0, 0, 0.5, 3})},
                          of<T>({1, 1, 1, 1, -2}));
    check_equal(r.value, {0, 0, 0, 0.25, 9});
    check_equal(r.grads[0], {0, 0, 0, 1, -12});
}

TEMPLATE_TEST_CASE("squared_relu: far from zero", "[engine]", float, double) {
    using T = TestType;
    const auto r = run<T>([](const auto& in) { return squared_relu(in[0]); },
                          {of<T>({-1e30, 1e15, -kInfinity, kInfinity})}, of<T>({1, 1, 1, 1}));
    CHECK(r.value(0) == 0);
    CHECK(r.value(1) == static_cast<T>(1e15) * static_cast<T>(1e15));
    CHECK((r.value(2) == 0 && std::isinf(r.value(3))));
    CHECK((r.grads[0](0) == 0 && r.grads[0](1) == static_cast<T>(2e15) && r.grads[0](2) == 0));
}

TEST_CASE("squared_relu: is the square of relu, in value and gradient", "[engine]") {
    for (const std::size_t n : kRagged) {
        const std::vector<Array<double>> at = {random_array<double>({2, n}, n)};
        const auto fused = run<double>([](const auto& in) { return squared_relu(in[0]); }, at);
        const auto twin = run<double>(
            [](const auto& in) {
                const auto r = relu(in[0]);
                return mul(r, r);
            },
            at);
        check_close(fused.value, twin.value, 0);
        check_close(fused.grads[0], twin.grads[0], 1e-15);
        check_float_against_double([](const auto& in) { return squared_relu(in[0]); }, {Shape{2, n}});
    }
}
