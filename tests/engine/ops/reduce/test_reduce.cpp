// Reductions and running sums: axes, extremes, precision, errors.
#include "engine/array/axes.h"
#include "engine/base/cpu.h"

TEMPLATE_TEST_CASE("reduce: a sum over no elements is 0, extremes of infinities and NaN", "[engine]", float, double) {
    check_equal(sum(Tensor<T>::ones({0})).value(), {0});
    check_equal(sum(Tensor<T>::ones({3, 0}), 1).value(), {0, 0, 0});
    check_equal(sum(Tensor<T>::ones({0, 3}), 0).value(), {0, 0, 0});
    check_equal(sum(Tensor<T>::ones({0, 2, 0}), {0, 2}, true).value(), {0, 0});
    CHECK(sum(Tensor<T>::ones({2, 0, 3}), 0).shape() == Shape{0, 3});
    CHECK(sum_over<T>(Array<T>({2, 1, 3}, T{1}), {1}).shape() == Shape{2, 3});
    const auto none = Tensor<T>::ones({0, 3}, true);
    backward(sum(none, 0), Array<T>({3}, T{1}));
    CHECK(none.grad().shape() == Shape{0, 3});
    const Tensor<T> infinite(of<T>({2}, {-kInfinity, -kInfinity}), true);  // extremes of infinities and NaN
    backward(max(infinite));
    check_equal(max(infinite).value(), {-kInfinity}), check_equal(infinite.grad(), {0.5, 0.5});
    check_equal(min(Tensor<T>(of<T>({2, 2}, {kInfinity, kInfinity, 1, std::nan("")})), {1}).value(),
                {kInfinity, std::nan("")});
}

TEMPLATE_TEST_CASE("reduce: products and sums of infinities, of nothing and of many", "[engine]", float, double) {
    const auto infinite =
        run<T>([](const auto& in) { return prod(in[0]); }, {of<T>({kInfinity, 2, 3})}, Array<T>(Shape{}, T{1}));
    check_equal(infinite.value, {kInfinity}), check_equal(infinite.grads[0], {6, kInfinity, kInfinity});
    check_equal(prod(Tensor<T>(Array<T>({2, 0})), {1}).value(), {1, 1});
    const Tensor<T> zeros(of<T>({4, 3}, {2, 3, -4, 2, 0, 5, 0, 7, 0, 0, 0, 0}), true);
    backward(prod(zeros, {1}), of<T>({4}, {1, 10, 1, 1}));
    check_equal(zeros.grad(), {-12, -8, 6, 0, 100, 0, 0, 0, 0, 0, 0, 0});
    const double big = sizeof(T) == 4 ? 0x1p100 : 0x1p1000, small = 1 / big;  // parts of a product out of range
    const Tensor<T> wide(
        of<T>({4, 4}, {big, big, small, small, small, small, big, big, big, big, 0, 2, big, 0, big, 0}), true);
    const Tensor<T> product = prod(wide, {1});
    check_equal(product.value(), {1, 1, 0, 0});
    product.backward(Array<T>({4}, T{1}));
    check_equal(wide.grad(), {small, small, big, big, big, big, small, small, 0, 0, kInfinity, 0, 0, 0, 0, 0});
    const double inf = kInfinity, nan = std::nan("");  // logsumexp neither overflows nor loses infinities
    const auto f = [](const auto& in) { return logsumexp(in[0], {1}); };
    const auto r = run<T>(f, {of<T>({4, 2}, {-inf, 1, inf, 1, nan, 1, -inf, -inf})}, Array<T>({4}, T{1}));
    check_equal(r.value, {1, inf, nan, -inf});
    check_equal(r.grads[0], {0, 1, nan, 0, nan, nan, nan, nan});  // as PyTorch
    CHECK(logsumexp(Tensor<T>(of<T>({-1e30, -1e30}))).item() == Approx(-1e30));
    const Tensor<T> level(of<T>({3}, {10001, 10002, 10003}));  // two passes: no difference of large squares
    CHECK(var(level).item() == Approx(1).epsilon(1e-6));       // variance of large and of infinite numbers
    // rounding of the mean is squared away, which it is not in the sum of x (x - mean)
    CHECK(var(Tensor<T>(of<T>({10000, 10000.5, 10001.25}))).item() == Approx(0.3958333).epsilon(1e-4));
    check_equal(var(Tensor<T>(of<T>({1, kInfinity}))).value(), {std::nan("")});
    check_equal(cumsum(Tensor<T>(of<T>({1, kInfinity, 1, std::nan(""), 1})), 0).value(),
                {1, kInfinity, kInfinity, std::nan(""), std::nan("")});
    CHECK(cumsum(Tensor<T>(Array<T>({2, 0})), 1).shape() == Shape{2, 0});
    const Tensor<float> many(Array<float>({4000000}, 0.1f));
    CHECK(cumsum(many, 0).value().data()[3999999] == Approx(400000.0).epsilon(1e-5));
}

TEST_CASE("reduce: argmax is the first maximum, or the first NaN, and empty and wrong axes", "[engine]") {
    const double nan = std::nan(""), inf = kInfinity;
    const Tensor<double> x(of<double>({3, 3}, {1, 5, 5, -inf, -inf, -inf, 9, nan, nan}));
    check_equal(argmax(x, {1}), {1, 0, 1}), check_equal(argmax(x, {0}), {2, 2, 2});
    CHECK(argmax(x, {-1}, true).shape() == Shape{3, 1});
    CHECK(argmax(x).shape() == Shape{});
    check_equal(argmax(x), {7});
    check_equal(argmax(transpose(slice(x, 0, 0, 2), 0, 1)), {2});  // (1, -inf), (5, -inf), (5, -inf)
    CHECK_THROWS_WITH(argmax(Tensor<double>()), contains("argmax: expected a tensor with a value"));
    CHECK_THROWS_WITH(argmax(Tensor<double>(Array<double>({0}))), contains("argmax: expected at least one element"));
    const Tensor<double> none(Array<double>({0, 3}), true), ones(Array<double>({2, 3}, 1.0));
    CHECK(sum(none, {1}).shape() == Shape{0});
    CHECK_THROWS_WITH(max(none, {0}), contains("max: expected at least one element", "(0, 3)"));
    CHECK_THROWS_WITH(sum(ones, {2}), contains("sum: axis 2"));
    CHECK_THROWS_WITH(mean(ones, {-3}), contains("mean: axis -3"));
    CHECK_THROWS_WITH(max(ones, {0, 0}), contains("max: an axis is named twice"));
    CHECK_THROWS_WITH(sum(ones, {1, -1}), contains("twice"));
    CHECK_THROWS_WITH(min(none, {0}), contains("min: expected at least one element", "(0, 3)"));
    CHECK_THROWS_WITH(logsumexp(none, {0}), contains("logsumexp: expected at least one element"));
    CHECK_THROWS_WITH(prod(ones, {2}), contains("prod: axis 2"));
    CHECK_THROWS_WITH(cumsum(ones, 2), contains("cumsum: axis 2"));
}

TEST_CASE("reduce: sum_over is the sum by loops, long sums keep digits, threads change no bits", "[engine]") {
    const Array<double> x = normal({3, 4, 5, 2}, 1).permuted({2, 0, 3, 1});  // (5, 3, 2, 4)
    for (std::size_t mask = 1; mask < 16; ++mask) {
        std::vector<std::size_t> axes;
        Shape kept(4, 1), shape;
        for (std::size_t i = 0; i < 4; ++i) {
            if (mask >> i & 1) {
                axes.push_back(i);
            } else {
                kept[i] = x.shape()[i], shape.push_back(kept[i]);
            }
        }
        Array<double> expected(kept, 0.0);
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t j = 0; j < 3; ++j)
                for (std::size_t k = 0; k < 2; ++k)
                    for (std::size_t l = 0; l < 4; ++l)
                        expected(i % kept[0], j % kept[1], k % kept[2], l % kept[3]) += x(i, j, k, l);
        check_close(sum_over<double>(x, axes), expected.reshaped(shape), 1e-13);
        check_close(sum_over<double>(x.clone(), axes), expected.reshaped(shape), 1e-13);
    }
    const std::size_t n = 4000000;
    const Tensor<float> many(Array<float>({n}, 0.1f));
    const double off =
        library_kind() < CpuKind::avx2 ? 1.1e-5 : 1e-5;        // fewer lanes: more additions to each running sum
    CHECK(sum(many).item() == Approx(400000.0).epsilon(off));  // one running float sum would be 1% off
    CHECK(mean(many).item() == Approx(0.1).epsilon(off));
    const Array<float> rows = random_array<float>({700, 1201}, 1);
    check_same_with_any_threads("sum_over", [&] { return std::vector{sum_over<float>(rows.transposed(0, 1), {0})}; });
    check_same_with_any_threads("argmax", [&] { return std::vector{argmax(Tensor<float>(rows), {0})}; });
}
