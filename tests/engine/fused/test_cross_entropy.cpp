// Cross-entropy: ignored rows, extremes, options, errors.
#include "engine/array/axes.h"

// The loss of logits z and its gradient, under a cotangent of ones.
template <class T, class... Options>
static Computed<T> loss_of(const Array<T>& z, const IdArray& targets, const Options&... options) {
    const Tensor<T> in(z, true), loss = cross_entropy(in, targets, options...);
    backward(loss, Array<T>(loss.shape(), T{1}));
    return {loss.value(), {in.grad()}};
}

TEMPLATE_TEST_CASE("cross_entropy: ignored rows, and large, equal and infinite logits", "[engine]", float, double) {
    const Array<T> z = random_array<T>({4, 3}, 1);
    z.sliced(0, 1, 2).data()[0] = static_cast<T>(std::nan(""));  // not even when they are not numbers
    z.sliced(0, 3, 4).data()[2] = std::numeric_limits<T>::infinity();
    const IdArray targets = of<std::int32_t>({2, kIgnore, 0, kIgnore});
    const auto r = loss_of<T>(z, targets), kept = loss_of<T>(z.sliced(0, 0, 4, 2).clone(), of<std::int32_t>({2, 0}));
    CHECK_ALL(same_bits(r.value, kept.value), same_bits(r.grads[0].sliced(0, 0, 4, 2), kept.grads[0]));
    CHECK(same_bits(r.grads[0].sliced(0, 1, 4, 2), Array<T>({2, 3}, T{0})));
    const auto none = loss_of<T>(z, IdArray({4}, kIgnore));
    check_equal(none.value, {0});
    CHECK(same_bits(none.grads[0], Array<T>({4, 3}, T{0})));
    CHECK(same_bits(loss_of<T>(z, of<std::int32_t>({2, 1, 0, 1}), CrossEntropyOptions{.ignore = 1}).grads[0],
                    r.grads[0]));
    CHECK(cross_entropy(Tensor<T>(Array<T>({0, 3})), IdArray({0})).item() == 0);
    for (const double level : {0.0, 1e4, -1e4, 1e30}) {
        const auto even = run<T>([](const auto& in) { return cross_entropy(in[0], IdArray({2}, 7)); },
                                 {Array<T>({2, 65}, static_cast<T>(level))}, Array<T>(Shape{}, T{65 * 2}));
        check_close(even.value, of<T>(Shape{}, {std::log(65.0)}), 1e-6);
        Array<T> expected({2, 65}, T{1});
        expected(0, 7) = expected(1, 7) = -64;
        check_close(even.grads[0], expected, 1e-5);
    }
    const auto loss = [](const std::vector<double>& logits, int target) {
        return loss_of<T>(of<T>(logits), IdArray(Shape{}, target));
    };
    check_equal(loss({1e4, -1e4, 0}, 0).value, {0}), check_equal(loss({1e4, -1e4, 0}, 0).grads[0], {0, 0, 0});
    check_equal(loss({1e4, -1e4, 0}, 1).value, {2e4}), check_equal(loss({1e4, -1e4, 0}, 1).grads[0], {1, -1, 0});
    check_close(loss({0, -kInfinity, 0}, 0).value, of<T>(Shape{}, {std::log(2.0)}), 1e-6);
    check_close(loss({0, -kInfinity, 0}, 0).grads[0], of<T>({-0.5, 0, 0.5}), 1e-6);
    check_equal(loss({0, -kInfinity, 0}, 1).value, {kInfinity});
    for (const double beyond : {-kInfinity, kInfinity, std::nan("")}) {  // as PyTorch: logits that overflowed, or NaN
        const auto overflowed = loss({beyond, beyond, beyond}, 1);
        check_equal(overflowed.value, {std::nan("")}),
            check_equal(overflowed.grads[0], {std::nan(""), std::nan(""), std::nan("")});
    }
}

TEST_CASE("cross_entropy: arguments and options that do not fit are refused", "[engine]") {
    const Tensor<float> z(Array<float>({2, 3}, 0.0f));
    CHECK_THROWS_WITH(cross_entropy(z, IdArray({3}, 0)),
                      contains("cross_entropy: expected logits (..., V)", "(2, 3) and (3,)"));
    CHECK_THROWS_WITH(cross_entropy(z, of<std::int32_t>({0, 3})), contains("below 3", "got 3"));
    CHECK_THROWS_WITH(cross_entropy(z, of<std::int32_t>({0, -1})), contains("got -1"));
    CHECK_THROWS_WITH(cross_entropy(z, of<std::int32_t>({0, kIgnore}), {.ignore = -1}), contains("or -1, got -100"));
    CHECK_THROWS_WITH(cross_entropy(Tensor<float>(Array<float>({2, 0})), IdArray({2}, 0)), contains("(2, 0)"));
    CHECK_THROWS_AS(cross_entropy(Tensor<float>(Array<float>(Shape{}, 0.0f)), IdArray(Shape{}, 0)), Error);
    const IdArray targets({2}, 0);
    CHECK_THROWS_WITH(cross_entropy(z, targets, {.weight = {1, 2}}),
                      contains("cross_entropy: expected a weight for each of 3 classes, got 2"));
    CHECK_THROWS_WITH(cross_entropy(z, targets, {.label_smoothing = 1.5}),
                      contains("label smoothing from 0 to 1", "1.5"));
    CHECK_THROWS_WITH(cross_entropy(z, targets, {.label_smoothing = -0.1}), contains("label smoothing"));
}

TEMPLATE_TEST_CASE("cross_entropy: options with ignored rows, NaN and infinities", "[engine]", float, double) {
    const double nan = std::nan(""), inf = kInfinity;
    const Array<T> z = of<T>({4, 2}, {nan, 1, nan, 1, -inf, 0, 1, 1});
    const CrossEntropyOptions options{.reduction = Reduction::none, .label_smoothing = 0.5};
    const auto r = loss_of<T>(z, of<std::int32_t>({kIgnore, 0, 1, 0}), options);
    check_close(r.value, of<T>({0, nan, inf, std::log(2.0)}), 1e-6);
    check_close(r.grads[0], of<T>({4, 2}, {0, 0, nan, nan, -0.25, 0.25, -0.25, 0.25}), 1e-6);
    const auto none =
        loss_of<T>(of<T>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), IdArray({4}, 0), CrossEntropyOptions{.weight = {0, 1}});
    check_equal(none.value, {0});  // no weight at all, as when every row is ignored
    check_equal(none.grads[0], {0, 0, 0, 0, 0, 0, 0, 0});
}
