// Broadcasting of shapes, and its inverse.
#include "engine/array/axes.h"

TEST_CASE("broadcast: shapes align at the right, axes of size 1 stretch, sum_to adds up what spread", "[engine]") {
    CHECK(broadcast_shape("op", {}, {}) == Shape{});
    CHECK(broadcast_shape("op", {2, 3}, {}) == Shape{2, 3});
    CHECK(broadcast_shape("op", {3}, {2, 1}) == Shape{2, 3});
    CHECK(broadcast_shape("op", {4, 1, 3}, {5, 1}) == Shape{4, 5, 3});
    CHECK(broadcast_shape("op", {0, 3}, {1, 3}) == Shape{0, 3});
    CHECK_THROWS_WITH(broadcast_shape("mul", {2, 3}, {2}), contains("mul: shapes must broadcast", "(2, 3) and (2,)"));
    CHECK_THROWS_AS(broadcast_shape("mul", {0}, {2}), Error);
    const Array<double> g = of<double>({2, 3}, {1, 2, 3, 4, 5, 6});
    check_equal(sum_to(g, {2, 3}), {1, 2, 3, 4, 5, 6}), check_equal(sum_to(g, {3}), {5, 7, 9});
    check_equal(sum_to(g, {1, 3}), {5, 7, 9}), check_equal(sum_to(g, {2, 1}), {6, 15});
    check_equal(sum_to(g, {}), {21}), check_equal(sum_to(g.transposed(0, 1), {2}), {6, 15});
    CHECK(sum_to(g, {1, 1}).shape() == Shape{1, 1});
    check_equal(sum_to(Array<double>({0, 2}), {1, 2}), {0, 0});
    // <h, broadcast(x)> = <sum_to(h), x> for every h and x
    const std::vector<std::pair<Shape, Shape>> pairs = {
        {{3, 1}, {2, 3, 4}}, {{4}, {2, 3, 4}}, {{2, 1, 4}, {2, 3, 4}}, {{1, 3, 1}, {2, 3, 4}}, {{}, {5, 7}}};
    for (const auto& [small, large] : pairs) {
        const Array<double> x = normal(small, 1), h = normal(large, 2);
        const Array<double> wide = h * x.broadcasted(large), back = sum_to(h, small) * x;
        CHECK(*sum_to(wide, {}).data() == Approx(*sum_to(back, {}).data()).epsilon(1e-12));
    }
}
