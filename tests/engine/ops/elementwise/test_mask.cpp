// Masks: where, masked_fill and triangles.
#include "engine/ops/elementwise/mask.h"

TEMPLATE_TEST_CASE("mask: where and masked_fill, and their gradients", "[engine]", float, double) {
    const MaskArray mask = of<std::uint8_t>({2, 1}, {1, 0});
    const Tensor<T> a(of<T>({3}, {1, 2, 3}), true), b(of<T>(Shape{}, {9}), true);
    const Tensor<T> y = where(mask, a, b);
    check_equal(y.value(), {1, 2, 3, 9, 9, 9});
    backward(y, of<T>({2, 3}, {1, 2, 3, 4, 5, 6}));
    check_equal(a.grad(), {1, 2, 3}), check_equal(b.grad(), {15});
    const Tensor<T> bad(of<T>({3}, {kInfinity, std::nan(""), 1}), true);  // what is not chosen leaves no trace
    const Tensor<T> safe = where(of<std::uint8_t>({0, 0, 200}), bad, b);
    check_equal(safe.value(), {9, 9, 1});
    backward(safe, of<T>({1, 1, 1}));
    check_equal(bad.grad(), {0, 0, 1});
    const Tensor<T> c(of<T>({3}, {-1, 2, 3}), true);  // beside a number, or an array
    const Tensor<T> positive = where(c.value() > 0, c, 0.5);
    check_equal(positive.value(), {0.5, 2, 3});
    backward(positive, of<T>({1, 2, 3}));
    check_equal(c.grad(), {0, 2, 3});
    check_equal(where(of<std::uint8_t>({1, 0, 1}), of<T>({7, 8, 9}), c).value(), {7, 2, 9});
    CHECK_THROWS_WITH(where(mask, Tensor<T>(Array<T>({3, 3})), b), contains("where", "(2, 1) and (3, 3)"));
    const Tensor<T> x(of<T>({2, 3}, {1, 2, 3, 4, 5, 6}), true);
    const Tensor<T> filled = masked_fill(x, of<std::uint8_t>({0, 1, 1}), -kInfinity);
    check_equal(filled.value(), {1, -kInfinity, -kInfinity, 4, -kInfinity, -kInfinity});
    check_equal(masked_fill(x, of<std::uint8_t>({2, 1}, {0, 1}), 8).value(), {1, 2, 3, 8, 8, 8});
    backward(filled, of<T>({2, 3}, {1, 2, 3, 4, 5, 6}));
    check_equal(x.grad(), {1, 0, 0, 4, 0, 0}), check_equal(x.value(), {1, 2, 3, 4, 5, 6});
    check_equal(masked_fill(transpose(x, 0, 1), of<std::uint8_t>({1, 0}), 0).value(), {0, 4, 0, 5, 0, 6});
    CHECK_THROWS_WITH(masked_fill(x, MaskArray({4, 2, 3}), 0), contains("masked_fill", "(4, 2, 3) for (2, 3)"));
    CHECK_THROWS_WITH(masked_fill(x, MaskArray({2}), 0), contains("masked_fill"));
}

TEMPLATE_TEST_CASE("mask: triangles keep one side of a diagonal", "[engine]", float, double) {
    const Tensor<T> x(of<T>({2, 3}, {1, 2, 3, 4, 5, 6}));
    check_equal(tril(x).value(), {1, 0, 0, 4, 5, 0}), check_equal(triu(x).value(), {1, 2, 3, 0, 5, 6});
    check_equal(tril(x, 100).value(), {1, 2, 3, 4, 5, 6}), check_equal(triu(x, 100).value(), {0, 0, 0, 0, 0, 0});
    CHECK_THROWS_WITH(tril(Tensor<T>(Array<T>({3}))), contains("tril: expected at least two axes", "(3,)"));
    CHECK_THROWS_WITH(triu(Tensor<T>(Array<T>(Shape{}))), contains("triu"));
}

TEST_CASE("mask: a causal mask hides what comes later", "[engine]") {
    check_equal(causal_mask(3, 3), {0, 1, 1, 0, 0, 1, 0, 0, 0});
    check_equal(causal_mask(2, 4), {0, 0, 0, 1, 0, 0, 0, 0});  // two new queries after two old keys
    check_equal(causal_mask(1, 3), {0, 0, 0});
    CHECK_THROWS_WITH(causal_mask(3, 2), contains("causal_mask", "3 queries for 2 keys"));
}
