// layer_norm and rms_norm: small and constant rows, strides, errors.
#include "engine/fused/norm.h"

const auto layer = [](const auto& in) { return layer_norm(in[0], in[1], in[2]); };
const auto rms = [](const auto& in) { return rms_norm(in[0], in[1]); };

TEMPLATE_TEST_CASE("normalize: constant, huge and tiny rows stay finite", "[engine]", float, double) {
    for (const double level : {0.0, 1.0, 1e4, -1e4}) {
        INFO(level);
        const std::vector<Array<T>> at = {Array<T>({2, 5}, static_cast<T>(level)), of<T>({1, 2, 3, 4, 5}),
                                          of<T>({5, 4, 3, 2, 1})};
        const auto l = run<T>(layer, at);
        check_close(l.value, of<T>({2, 5}, {5, 4, 3, 2, 1, 5, 4, 3, 2, 1}), 1e-6);
        const auto m = run<T>(rms, {at[0], at[1]});
        for (const auto& result : {l, m})
            for (const auto& g : all_of(result))
                CHECK(std::all_of(g.data(), g.data() + g.size(), [](T v) { return std::isfinite(v); }));
        const double unit = level / std::sqrt(level * level + 1e-5);
        check_close(
            m.value,
            of<T>({2, 5}, {unit, 2 * unit, 3 * unit, 4 * unit, 5 * unit, unit, 2 * unit, 3 * unit, 4 * unit, 5 * unit}),
            1e-6);
    }
    const T tiny = static_cast<T>(sizeof(T) == 4 ? 1e-13 : 1e-140);  // whose squares have few digits
    const auto small = rms_norm(Tensor<T>::from({{tiny, -tiny}}), {}, double{tiny} * double{tiny}).value();
    CHECK(small(0, 0) == Approx(1 / std::sqrt(2.0)).epsilon(sizeof(T) == 4 ? 1e-6 : 1e-14));
    const Tensor<T> offset(of<T>({1, 4}, {10001, 10003, 10001, 10003}));  // the mean is taken away before squaring
    check_close(layer_norm(offset, {}, {}, 0).value(), of<T>({1, 4}, {-1, 1, -1, 1}), 1e-6);
    const Tensor<T> between(of<T>({1, 3}, {10000, 10000.5, 10001.25}));  // whose mean is rounded
    check_close(layer_norm(between, {}, {}, 0).value(), of<T>({1, 3}, {-1.13555, -0.162221, 1.297771}), 3e-3);
}

TEST_CASE("normalize: only wanted gradients are computed, and mismatched shapes are refused", "[engine]") {
    const Tensor<double> x(normal({3, 5}, 1)), gain(normal({5}, 2), true), bias(normal({5}, 3), true);
    backward(layer_norm(x, gain, bias), Array<double>({3, 5}, 1.0));
    check_equal(bias.grad(), {3, 3, 3, 3, 3});
    const Tensor<double> fixed(gain.value()), only_bias(bias.value(), true);
    backward(layer_norm(x, fixed, only_bias), Array<double>({3, 5}, 1.0));
    check_equal(only_bias.grad(), {3, 3, 3, 3, 3});
    const auto zeros = [](const Shape& shape) { return Tensor<double>(Array<double>(shape, 0.0)); };
    CHECK_THROWS_WITH(layer_norm(zeros({2, 3}), zeros({2}), {}), contains("layer_norm", "(2,) for (2, 3)"));
    CHECK_THROWS_WITH(layer_norm(zeros({2, 3}), zeros({3}), zeros({1})), contains("(1,) for (2, 3)"));
    CHECK_THROWS_WITH(layer_norm(zeros({2, 3}), {}, zeros({3})), contains("a bias needs a gain"));
    CHECK_THROWS_WITH(rms_norm(zeros({2, 3}), zeros({3, 1})), contains("rms_norm", "(3, 1)"));
    CHECK_THROWS_WITH(rms_norm(zeros({2, 0}), {}), contains("rms_norm", "(2, 0)"));
    CHECK_THROWS_WITH(layer_norm(zeros({}), {}, {}), contains("layer_norm: the last axis"));
    CHECK(layer_norm(zeros({0, 3}), zeros({3}), zeros({3})).shape() == Shape{0, 3});
}
