// Losses of regressions and of yes-or-no answers: by hand, reductions, extremes, refusals.
#include "engine/ops/loss.h"

#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEMPLATE_TEST_CASE("loss: mse_loss by hand, in every reduction", "[engine]", float, double) {
    using T = TestType;
    const auto with = [](auto... reduction) {
        return [=](const auto& in) { return mse_loss(in[0], in[1], reduction...); };
    };
    check_by_hand<T>(with(Reduction::none), {{1, 5}, {3, 4}}, {1, 10}, {4, 1}, {{-4, 20}, {4, -20}});
    const std::vector<Array<T>> at = {of<T>({1, 5}), of<T>({3, 4})};
    const Array<T> dy(Shape{}, T{2});
    const auto total = run<T>(with(Reduction::sum), at, dy), mean = run<T>(with(), at, dy);
    check_equal(total.value, {5});
    check_equal(total.grads[0], {-8, 4});
    check_equal(mean.value, {2.5});
    check_equal(mean.grads[0], {-4, 2});
    check_equal(mean.grads[1], {4, -2});
}

TEMPLATE_TEST_CASE("loss: binary_cross_entropy_with_logits by hand, in every reduction", "[engine]", float, double) {
    using T = TestType;
    const double l2 = std::log(2.0), l3 = std::log(3.0);
    const auto with = [](auto... reduction) {
        return [=](const auto& in) { return binary_cross_entropy_with_logits(in[0], in[1], reduction...); };
    };
    // p = 1/2 and 3/4
    check_by_hand<T>(with(Reduction::none), {{0, l3, l3}, {0.25, 1, 0}}, {1, 4, 4},
                     {l2, std::log(4 / 3.0), std::log(4.0)}, {{0.25, -1, 3}, {0, -4 * l3, -4 * l3}});
    const std::vector<Array<T>> at = {of<T>({0, l3}), of<T>({1, 1})};
    const Array<T> dy(Shape{}, T{2});
    const auto total = run<T>(with(Reduction::sum), at, dy), mean = run<T>(with(), at, dy);
    check_close(total.value, of<T>(Shape{}, {l2 + std::log(4 / 3.0)}), 1e-6);
    check_close(total.grads[0], of<T>({-1, -0.5}), 1e-6);
    check_close(mean.value, of<T>(Shape{}, {(l2 + std::log(4 / 3.0)) / 2}), 1e-6);
    check_close(mean.grads[0], of<T>({-0.5, -0.25}), 1e-6);
}

TEMPLATE_TEST_CASE("loss: binary_cross_entropy_with_logits neither overflows nor loses small losses", "[engine]", float,
                   double) {
    using T = TestType;
    const auto none = [](const auto& in) { return binary_cross_entropy_with_logits(in[0], in[1], Reduction::none); };
    check_by_hand<T>(none, {{1e4, -1e4, 1e4, -1e4}, {1, 0, 0, 1}}, {1, 1, 1, 1}, {0, 0, 1e4, 1e4}, {{0, 0, 1, -1}});
    const Tensor<T> x(of<T>({30, -30})), t(of<T>({1, 0}));
    const ConstArray<T> small = binary_cross_entropy_with_logits(x, t, Reduction::none).value();
    CHECK(small.data()[0] == Approx(std::exp(-30.0)).epsilon(1e-6));
    CHECK(small.data()[1] == Approx(std::exp(-30.0)).epsilon(1e-6));
    const double nan = std::nan("");
    check_by_hand<T>(none, {{nan, 1}, {1, nan}}, {1, 1}, {nan, nan}, {{nan, nan}, {nan, -1}});
}

TEST_CASE("loss: what does not fit is refused", "[engine]") {
    const Tensor<double> a(Array<double>({2, 1}, 1.0)), b(Array<double>({2}, 1.0)), none(Array<double>({0}));
    CHECK_THROWS_WITH(mse_loss(a, b), ContainsSubstring("mse_loss: targets of the values' shape") &&
                                          ContainsSubstring("(2, 1) and (2,)"));
    CHECK_THROWS_WITH(
        binary_cross_entropy_with_logits(a, b),
        ContainsSubstring("binary_cross_entropy_with_logits: targets") && ContainsSubstring("(2, 1) and (2,)"));
    CHECK_THROWS_WITH(mse_loss(none, none), ContainsSubstring("at least one element"));
    CHECK(mse_loss(none, none, Reduction::sum).item() == 0);
}

TEST_CASE("loss: float agrees with double", "[engine]") {
    for (const std::size_t n : kRagged) {
        check_float_against_double([](const auto& in) { return mse_loss(in[0], in[1]); }, {{3, n}, {3, n}});
        check_float_against_double([](const auto& in) { return binary_cross_entropy_with_logits(in[0], in[1]); },
                                   {{3, n}, {3, n}});
    }
}
