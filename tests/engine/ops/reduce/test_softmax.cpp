// softmax and log_softmax: shifts, extremes, masked rows, axes.
#include "engine/array/axes.h"

TEMPLATE_TEST_CASE("softmax: large and equal logits", "[engine]", float, double) {
    const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-14;
    for (const double level : {0.0, 1e4, -1e4, 1e30, -1e30}) {
        INFO(level);
        const Tensor<T> x(Array<T>({1, 37}, static_cast<T>(level)));
        check_close(softmax(x).value(), Array<T>({1, 37}, static_cast<T>(1.0 / 37)), tolerance);
        check_close(log_softmax(x).value(), Array<T>({1, 37}, static_cast<T>(-std::log(37.0))), tolerance);
    }
    const std::vector<Array<T>> at = {of<T>({1e4, -1e4, 9999})};
    const auto p = run<T>([](const auto& in) { return softmax(in[0]); }, at, of<T>({1, 1, 0}));
    const double s = 1 / (1 + std::exp(-1.0));
    check_close(p.value, of<T>({s, 0, 1 - s}), tolerance);
    check_close(p.grads[0], of<T>({s * (1 - s), 0, -s * (1 - s)}), tolerance);
    const auto l = run<T>([](const auto& in) { return log_softmax(in[0]); }, at, of<T>({0, 1, 0}));
    check_close(l.value, of<T>({std::log(s), -2e4 + std::log(s), std::log(1 - s)}), tolerance);
    check_close(l.grads[0], of<T>({-s, 1, s - 1}), tolerance);
}

TEMPLATE_TEST_CASE("softmax: -inf gets exactly 0, a row of nothing else is refused", "[engine]", float, double) {
    const std::vector<Array<T>> at = {of<T>({2, 3}, {0, -kInfinity, 0, -kInfinity, -kInfinity, 5})};
    const auto p = run<T>([](const auto& in) { return softmax(in[0]); }, at, of<T>({2, 3}, {1, 1, 3, 1, 1, 1}));
    check_close(p.value, of<T>({2, 3}, {0.5, 0, 0.5, 0, 0, 1}), 1e-7);
    check_close(p.grads[0], of<T>({2, 3}, {-0.5, 0, 0.5, 0, 0, 0}), 1e-7);
    const auto l = run<T>([](const auto& in) { return log_softmax(in[0]); }, at, of<T>({2, 3}, {1, 0, 1, 0, 0, 1}));
    check_close(l.value, of<T>({2, 3}, {-std::log(2.0), -kInfinity, -std::log(2.0), -kInfinity, -kInfinity, 0}), 1e-7);
    check_close(l.grads[0], of<T>({2, 3}, {0, 0, 0, 0, 0, 0}), 1e-7);
    for (const std::size_t n : {1, 5, 40}) {
        const Tensor<T> masked(Array<T>({2, n}, -std::numeric_limits<T>::infinity()));
        CHECK_THROWS_WITH(softmax(masked), contains("softmax:", "-inf"));
        CHECK_THROWS_WITH(log_softmax(masked), contains("log_softmax:", "-inf"));
    }
    for (const std::size_t where : {0, 1, 16, 39}) {  // NaN passes through instead, also among -inf
        Array<T> broken({1, 40}, -std::numeric_limits<T>::infinity());
        broken.data()[where] = std::numeric_limits<T>::quiet_NaN();
        const Tensor<T> q = softmax(Tensor<T>(broken)), lq = log_softmax(Tensor<T>(broken));
        for (const T y : q.value()) CHECK(std::isnan(y));
        for (const T y : lq.value()) CHECK(std::isnan(y));
    }
}

TEMPLATE_TEST_CASE("softmax: over what a mask allows", "[engine]", float, double) {
    const MaskArray allowed = of<std::uint8_t>({2, 1, 3}, {1, 0, 1, 0, 1, 1});  // of each sequence, for both queries
    const auto masked = [&](const auto& in) { return softmax(in[0], allowed); };
    const auto filled = [&](const auto& in) {
        return softmax(masked_fill(in[0], of<std::uint8_t>({2, 1, 3}, {0, 1, 0, 1, 0, 0}), -kInfinity));
    };
    const Array<T> at = random_array<T>({2, 2, 3}, 1);
    const auto a = run<T>(masked, {at}), b = run<T>(filled, {at});
    CHECK_ALL(same_bits(a.value, b.value), same_bits(a.grads[0], b.grads[0]));
    CHECK(same_bits(softmax(Tensor<T>(at), MaskArray()).value(), softmax(Tensor<T>(at)).value()));
    CHECK(same_bits(softmax(Tensor<T>(at), MaskArray(Shape{}, 1)).value(), softmax(Tensor<T>(at)).value()));
    CHECK_THROWS_WITH(softmax(Tensor<T>(at), MaskArray({2, 2}, 1)), contains("(2, 2, 3), got (2, 2)"));
    // Infinite scores do not mask.
    Array<T> low = at.clone();
    std::fill_n(low.data() + 3, 3, -std::numeric_limits<T>::infinity());  // query 1 of sequence 0
    const auto y = run<T>(masked, {low});
    for (std::size_t i = 0; i < 12; ++i) CHECK(std::isnan(y.value.data()[i]) == (i >= 3 && i < 6));
    CHECK_ALL(std::isnan(y.grads[0].data()[3]), std::isnan(softmax(Tensor<T>(low), MaskArray()).value().data()[5]));
}

TEMPLATE_TEST_CASE("softmax: a row that is masked everywhere is refused, even or zero", "[engine]", float, double) {
    MaskArray allowed({2, 1, 3, 5}, 1);
    std::fill_n(allowed.data() + 15 + 5, 5, std::uint8_t{0});  // query 1 of sequence 1, in both heads
    Array<T> at = random_array<T>({2, 2, 3, 5}, 1);
    at(1, 0, 1, 2) = std::numeric_limits<T>::quiet_NaN();  // hidden by the mask
    CHECK_THROWS_WITH(softmax(Tensor<T>(at), allowed),
                      contains("softmax: query 1 of batch 1 may see no key: every place is masked"));
    CHECK_THROWS_WITH(softmax(Tensor<T>(at), allowed, Masked::error, "mine"), contains("mine: query 1"));
    const Tensor<T> row(at.sliced(0, 0, 1).sliced(1, 0, 1).reshaped({3, 5}));
    CHECK_THROWS_WITH(softmax(row, MaskArray({1, 5}, 0)), contains("may see no key"));
    for (const Masked none : {Masked::uniform, Masked::zero}) {
        const auto r = run<T>([&](const auto& in) { return softmax(in[0], allowed, none); }, {at});
        for (std::size_t i = 0; i < at.size(); ++i) {
            const bool hidden = i / 5 == 7 || i / 5 == 10;  // rows (1, 0, 1) and (1, 1, 1)
            const T y = r.value.data()[i], dx = r.grads[0].data()[i];
            if (hidden) CHECK(y == (none == Masked::uniform ? T{1} / 5 : T{0}));
            if (hidden) CHECK(dx == 0);
            CHECK(y < 1);
        }
    }
}

TEST_CASE("softmax: log_softmax along any axis is its logarithm, a wrong or empty axis is refused", "[engine]") {
    const Tensor<double> t(normal({3, 4, 5}, 1));
    for (const std::ptrdiff_t axis : {0, 1, -1})
        check_close(exp(log_softmax(t, axis)).value(), softmax(t, axis).value(), 1e-14);
    CHECK_THROWS_WITH(softmax(t, 3), contains("softmax: axis 3"));
    CHECK_THROWS_WITH(log_softmax(t, -4), contains("log_softmax: axis -4"));
    CHECK_THROWS_WITH(softmax(Tensor<double>(Array<double>({2, 0}))), contains("softmax", "(2, 0)"));
    CHECK(softmax(Tensor<double>(Array<double>({0, 2}))).shape() == Shape{0, 2});
}
