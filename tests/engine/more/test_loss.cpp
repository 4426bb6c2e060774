// Losses for regression and binary classification: reductions, extremes, errors.
#include "engine/array/axes.h"

TEMPLATE_TEST_CASE("loss: binary_cross_entropy_with_logits at small and large logits", "[engine]", float, double) {
    const auto none = [](const auto& in) { return binary_cross_entropy_with_logits(in[0], in[1], Reduction::none); };
    check_by_hand<T>(none, {{1e4, -1e4, 1e4, -1e4}, {1, 0, 0, 1}}, {1, 1, 1, 1}, {0, 0, 1e4, 1e4}, {{0, 0, 1, -1}});
    const Tensor<T> x(of<T>({30, -30})), t(of<T>({1, 0}));
    const ConstArray<T> small = binary_cross_entropy_with_logits(x, t, Reduction::none).value();
    CHECK(small.data()[0] == Approx(std::exp(-30.0)).epsilon(1e-6));
    CHECK(small.data()[1] == Approx(std::exp(-30.0)).epsilon(1e-6));
    const double nan = std::nan("");
    check_by_hand<T>(none, {{nan, 1}, {1, nan}}, {1, 1}, {nan, nan}, {{nan, nan}, {nan, -1}});
}

TEST_CASE("loss: mismatched arguments are refused", "[engine]") {
    const Tensor<double> a(Array<double>({2, 1}, 1.0)), b(Array<double>({2}, 1.0)), none(Array<double>({0}));
    CHECK_THROWS_WITH(mse_loss(a, b), contains("mse_loss: expected targets of the values' shape", "(2, 1) and (2,)"));
    CHECK_THROWS_WITH(binary_cross_entropy_with_logits(a, b),
                      contains("binary_cross_entropy_with_logits: expected targets", "(2, 1) and (2,)"));
    CHECK_ALL(std::isnan(mse_loss(none, none).item()), mse_loss(none, none, Reduction::sum).item() == 0);
}
