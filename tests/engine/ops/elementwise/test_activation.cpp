// Activations: kinks, tails, errors, and reused memory.
#include "engine/ops/elementwise/activation.h"

TEMPLATE_TEST_CASE("activation: kinks, defaults, and far from zero never NaN", "[engine]", float, double) {
    const double e = std::exp(-1.0);
    check_points<T>("relu", relu<T>, {-2, 0, 3}, {0, 0, 3}, {0, 0, 1});
    check_points<T>("squared_relu", squared_relu<T>, {-2, -0.0, 0, 0.5}, {0, 0, 0, 0.25}, {0, 0, 0, 1});
    check_points<T>("leaky_relu", [](const auto& x) { return leaky_relu(x); }, {-2, 0, 3}, {-0.02, 0, 3},
                    {0.01, 0.01, 1});
    check_points<T>("elu", [](const auto& x) { return elu(x); }, {-1, 0, 3}, {e - 1, 0, 3}, {e, 1, 1});
    check_points<T>("elu 2", [](const auto& x) { return elu(x, 2); }, {-1, 0, 3}, {2 * e - 2, 0, 3}, {2 * e, 2, 1});
    const double inf = kInfinity, nan = std::nan("");
    for (const double far : {100.0, 1e3, 1e4, 1e15, 1e30}) {
        INFO(far);
        check_points<T>("tanh", tanh<T>, {far, -far}, {1, -1}, {0, 0});
        check_points<T>("sigmoid", sigmoid<T>, {far, -far}, {1, 0}, {0, 0});
        check_points<T>("relu", relu<T>, {far, -far}, {far, 0}, {1, 0});
        check_points<T>("silu", silu<T>, {far, -far}, {far, 0}, {1, 0});
        check_points<T>("gelu", gelu<T>, {far, -far}, {far, 0}, {1, 0});
        check_points<T>("gelu_erf", gelu_erf<T>, {far, -far}, {far, 0}, {1, 0});
    }
    check_points<T>("softplus", softplus<T>, {1000, -1000, inf, -inf, nan}, {1000, 0, inf, 0, nan}, {1, 0, 1, 0, nan});
    check_points<T>("leaky_relu", [](const auto& x) { return leaky_relu(x, 0.5); }, {1000, -1000, inf, -inf, nan},
                    {1000, -500, inf, -inf, nan}, {1, 0.5, 1, 0.5, nan});
    check_points<T>("elu", [](const auto& x) { return elu(x, 3); }, {1000, -1000, inf, -inf, nan},
                    {1000, -3, inf, -3, nan}, {1, 0, 1, 0, nan});
    check_points<T>("squared_relu", squared_relu<T>, {-1e30, 1e15, -inf, inf}, {0, 1e30, 0, inf}, {0, 2e15, 0, inf});
    check_points<T>("softcap", [](const auto& x) { return softcap(x, 15); }, {1e3, -1e3, 1e30, -1e30, inf, -inf, nan},
                    {15, -15, 15, -15, 15, -15, nan}, {0, 0, 0, 0, 0, 0, nan});
}

TEST_CASE("softcap: a cap that is not above zero is refused", "[engine]") {
    const Tensor<float> x(Array<float>({2, 3}, 1.0f));
    for (const double cap : {0.0, -1.0, std::nan("")})
        CHECK_THROWS_WITH(softcap(x, cap), contains("softcap: expected a cap above 0", "(2, 3)"));
}

TEST_CASE("gelu: an input that is given up is written over, one that is held is not", "[engine]") {
    const Tensor<float> held(Array<float>({3, 40}, 0.5f));
    const Tensor<float> y = gelu(held);
    CHECK_ALL(y.value().data() != held.value().data(), held.value().data()[0] == 0.5f);

    Tensor<float> given(Array<float>({3, 40}, 0.5f));
    const float* const place = given.value().data();
    const Tensor<float> z = gelu(std::move(given));
    CHECK_ALL(z.value().data() == place, z.value().data()[119] == y.value().data()[119]);
}
