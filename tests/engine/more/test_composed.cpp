// Composed ops, vectors in products, numbers as operands: cases that do not fit into the table of op cases.
#include "engine/memory/buffer_pool.h"

const auto kX = Tensor<double>::from({{3, 1, 2}, {4, 4, 0}});

TEST_CASE("composed: ids, what PyTorch leaves open, memory of scatter, and what cancels on the way", "[engine]") {
    CHECK(tile(kX, {2, 1, 0}).shape() == Shape{2, 2, 0});
    const auto ids = [](const IdArray& x) { return std::vector<int>(x.begin(), x.end()); };
    CHECK(ids(argmin(kX, 1)) == std::vector{1, 2});
    CHECK(ids(argsort(kX, 1, true)) == std::vector{0, 2, 1, 0, 1, 2});
    CHECK(ids(cummax(kX, 1).ids) == std::vector{0, 0, 0, 0, 1, 1});
    CHECK(remainder(Tensor<double>::from(1.0), Tensor<double>::from(0.1)).item() == std::fmod(1.0, 0.1));
    IdArray places({2, 2}, 0);  // the last of several numbers that come to one place stays
    places(1, 1) = 2;
    check_equal(scatter(kX, 1, places, Tensor<double>::from({{5, -1}, {6, 7}})).value(), {-1, 1, 2, 6, 4, 7});
    CHECK(scatter(Tensor<double>::from(2.0), 0, IdArray(Shape(), 0), Tensor<double>::from(3.0), Scatter::sum).item() ==
          5);
    const std::size_t n = 1000, before = pool_statistics().bytes_in_use;
    const auto x = Tensor<float>::zeros({n}, true), source = Tensor<float>::full({n}, 1.0F);
    for (const Scatter how : {Scatter::prod, Scatter::max, Scatter::min}) {
        const Tensor<float> y = scatter(x, 0, IdArray({n}, 7), source, how);
        CHECK(y.value()(7) == (how == Scatter::max ? 1 : 0));
        CHECK(pool_statistics().bytes_in_use - before < 40 * n * sizeof(float));
    }
    const auto at = [](const auto& f, float number) { return f(Tensor<float>::from(number)).item(); };
    CHECK_ALL(at(asinh<float>, -1e4f) == Approx(-9.903487555), at(sinh<float>, 1e-6f) == Approx(1e-6));
    CHECK(at(logsigmoid<float>, -200) == -200);
    CHECK(logaddexp(Tensor<float>::from(2000.f), Tensor<float>::from(-1.f)).item() == 2000);
    CHECK(std::isinf(logcumsumexp(Tensor<float>::full({3}, -INFINITY), 0).value()(2)));
    check_equal(round(Tensor<double>::from({-2.5, 0.5, 1.5, -0.4})).value(), {-2, 0, 2, 0});
    check_equal(fmod(Tensor<double>::from({5, -5, 5, -5}), Tensor<double>::from({3, 3, -3, -3})).value(),
                {2, -2, 2, -2});
    check_equal(clamp(kX, 3, 1).value(), {1, 1, 1, 1, 1, 1});  // as in PyTorch
}

TEMPLATE_TEST_CASE("composed: ties and limits have PyTorch's gradients", "[engine]", float, double) {
    check_by_hand<T>([](const auto& in) { return clamp(in[0], -1, 1); }, {{-1, 1, 0}}, {1, 2, 3}, {-1, 1, 0},
                     {{0, 0, 3}});
    check_by_hand<T>([](const auto& in) { return hardsigmoid(in[0]); }, {{-3, 3, 0}}, {6, 6, 6}, {0, 1, 0.5},
                     {{0, 0, 1}});
    check_by_hand<T>(
        [](const auto& in) {
            return flatten(max_pool2d(reshape(in[0], {2, 2}), 2));
        },
        {{1, 3, 3, 3}}, {5}, {3}, {{0, 5, 0, 0}});
}

TEST_CASE("composed: scalars, zeros, and nothing at all", "[engine]") {
    const auto x = Tensor<double>::from(3.0, true);  // a row of one number, where an axis is named
    CHECK_ALL(argmax(x, 0)() == 0, topk(x, 1).values.item() == 3, log_softmax(x).item() == 0);
    CHECK(mean(x, {-1}, true).shape() == Shape());
    CHECK_THROWS_WITH(sum(x, 1), contains("sum: axis 1"));
    CHECK_THROWS_WITH(cumsum(x, 1), contains("cumsum: axis 1"));
    for (const double p : {0.5, 1.0, 1.5, 2.0, 3.0, kInfinity}) {  // the gradient of a norm is 0 where x is
        const auto zeros = Tensor<double>::zeros({3}, true), one = Tensor<double>::from({0, -2, 0}, true);
        norm(zeros, p).backward();
        check_equal(zeros.grad(), {0, 0, 0});
        const auto y = norm(one, p);
        y.backward();
        CHECK(y.item() == Approx(2));
        check_close(one.grad(), of<double>({0, -1, 0}), 1e-14);
    }
    const auto one = Tensor<double>::from({2.0}, true);  // too few elements for a variance: NaN
    CHECK(std::isnan(var(one).item()));                  // the mean and the variance of too few elements are NaN
    inkling::std(one).backward();
    CHECK_ALL(std::isnan(one.grad()(0)), std::isnan(var(Tensor<double>::zeros({0})).item()));
    CHECK(std::isinf(var(Tensor<double>::from({1, 2}), {}, false, 2).item()));
    CHECK(std::isnan(mean(Tensor<double>::zeros({0})).item()));
    const auto empty = [](const Shape& shape) { return Tensor<float>::zeros(shape); };
    CHECK(conv1d(empty({1, 2, 5}), empty({0, 2, 3})).shape() == Shape{1, 0, 3});
    CHECK(conv2d(empty({0, 2, 5, 4}), empty({3, 2, 2, 2})).shape() == Shape{0, 3, 4, 3});
    CHECK(max_pool2d(empty({0, 4, 4}), 2).shape() == Shape{0, 2, 2});
    CHECK(cumprod(empty({2, 0}), 0).shape() == Shape{2, 0});
    CHECK(logcumsumexp(empty({2, 0}), 1).shape() == Shape{2, 0});
    const std::ptrdiff_t far = std::numeric_limits<std::ptrdiff_t>::min();  // -3, and 5 again and again
    check_equal(roll(Tensor<float>::arange(5), far, 0).value(), {3, 4, 0, 1, 2});
}

TEST_CASE("composed: mismatched arguments are refused", "[engine]") {
    CHECK_THROWS_WITH(pad(kX, {1}), contains("pad: expected two widths for each axis"));
    CHECK_THROWS_WITH(pad(kX, {-2, -2}), contains("pad: widths -2 and -2 cut more off axis 1"));
    CHECK_THROWS_WITH(one_hot<double>(IdArray({1}, 3), 3), contains("below 3 classes, got 3"));
    CHECK_THROWS_WITH(norm(kX, 0), contains("norm: expected a p above 0"));
    CHECK_THROWS_WITH(scatter(kX, 1, IdArray({2, 1}, 3), Tensor<double>::zeros({2, 1})), contains("below 3"));
    CHECK_THROWS_WITH(scatter(kX, 1, IdArray({3, 1}, 0), Tensor<double>::zeros({3, 1})),
                      contains("scatter: expected an index no larger than source", "got (3, 1), (2, 3), (3, 1)"));
    CHECK_THROWS_WITH(pad(kX, {-2, 2}, Padding::circular), contains("pad: widths -2 and 2"));
    CHECK_THROWS_WITH(pad(kX, {3, 0}, Padding::reflect), contains("pad: widths 3 and 0"));
    CHECK_THROWS_WITH(diagonal(kX, 0, 1, 1), contains("diagonal: expected two axes"));
    CHECK_THROWS_WITH(max_pool2d(kX, {1, 1, 1}), contains("max_pool2d: expected one number, or 2"));
    CHECK_THROWS_WITH(max_pool2d(Tensor<double>::zeros({4}), 2), contains("max_pool2d: expected at least two axes"));
    CHECK_THROWS_WITH(avg_pool2d(Tensor<double>::zeros({4}), 2), contains("avg_pool2d: expected at least two axes"));
    CHECK_THROWS_WITH(conv_transpose2d(kX, kX), contains("conv_transpose2d: expected x (B, C, H, W)"));
    CHECK_THROWS_WITH(interpolate(kX, {1, 1, 1}), contains("interpolate: at most 2 sizes"));
    CHECK_THROWS_WITH(nll_loss(kX, IdArray({2}, 3)), contains("nll_loss: targets must be at least 0"));
    CHECK_THROWS_WITH(unfold(kX, 1, 4), contains("unfold: expected windows of 1 to 3 elements"));
    CHECK_THROWS_WITH(conv1d(kX, kX), contains("conv1d: expected x (B, C, ...)"));
    CHECK_THROWS_WITH(matmul(Tensor<double>::zeros({3}), Tensor<double>::zeros({2, 3})),
                      contains("matmul: expected (..., M, K) and (..., K, N), got (3,) and (2, 3)"));
}
