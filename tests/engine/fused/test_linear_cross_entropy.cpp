// The head and its loss in one op: extremes, precision, threads, errors. test_twins.cpp has its two ops.
#include "engine/fused/linear_cross_entropy.h"

TEST_CASE("linear_cross_entropy: adds to a gradient that is there, and takes batches", "[engine]") {
    const Array<double> table = random_array<double>({21, 6}, 1);
    const IdArray ids = random_ids({2, 5}, 21, 2), targets = random_ids({2, 5}, 21, 3);
    const auto tied = [&](std::size_t block) {
        return run<double>(
            [&](const auto& in) {
                return linear_cross_entropy(tanh(embedding(ids, in[0])), in[0], targets, kIgnore, block);
            },
            {table}, Array<double>(Shape{}, 1.0));
    };
    const auto whole = tied(0), blocks = tied(4);
    check_close(blocks.value, whole.value, 1e-13), check_close(blocks.grads[0], whole.grads[0], 1e-12);

    const Tensor<double> x(random_array<double>({10, 6}, 4), true), w(table, true);
    const auto twice = [&] { backward(linear_cross_entropy(x, w, targets.reshaped({10}), kIgnore, 8)); };
    twice();
    const Array<double> once = w.grad().clone();
    twice();
    check_close(w.grad(), Array<double>(once * 2.0), 1e-13);
}

TEST_CASE("linear_cross_entropy: extreme logits and ignored rows", "[engine]") {
    const Array<float> x = of<float>({2, 1}, {1, 1}), w = of<float>({4, 1}, {-1000, 1000, 0, 999});
    const auto loss = [&](const std::vector<double>& targets, std::size_t block) {
        return run<float>(
            [&](const auto& in) {
                return linear_cross_entropy(in[0], in[1], of<std::int32_t>(targets), kIgnore, block);
            },
            {x, w}, Array<float>(Shape{}, 1.0f));
    };
    for (const std::size_t block : {1, 2, 3, 4}) {
        const double l = std::log1p(std::exp(-1.0));
        CHECK(loss({1, 1}, block).value(0) == Approx(l).epsilon(1e-5));
        CHECK(loss({0, 3}, block).value(0) == Approx((2000 + 1 + 2 * l) / 2).epsilon(1e-5));
        const auto none = loss({kIgnore, kIgnore}, block);
        check_equal(none.value, {0}), check_equal(none.grads[0], {0, 0}), check_equal(none.grads[1], {0, 0, 0, 0});
    }
    const Array<float> low = of<float>({4, 1}, {-kInfinity, -kInfinity, -kInfinity, -kInfinity});
    const auto r = run<float>(
        [](const auto& in) {
            return linear_cross_entropy(in[0], in[1], of<std::int32_t>({0, 0}), kIgnore, 2);
        },
        {x, low}, Array<float>(Shape{}, 1.0f));
    CHECK(std::isnan(r.value(0)));  // no row is masked: its logits have overflowed
    for (const float g : r.grads[1]) CHECK(std::isnan(g));
}

TEMPLATE_TEST_CASE("linear_cross_entropy: logits far beyond the cap, finite and flat", "[engine]", float, double) {
    const auto far =
        run<T>([](const auto& in) { return linear_cross_entropy(in[0], in[1], IdArray({1}, 0), kIgnore, 2, 15); },
               {of<T>({1, 1}, {1}), of<T>({3, 1}, {-1e30, 1e30, 1e30})}, Array<T>(Shape{}, T{1}));
    CHECK(static_cast<double>(far.value()) == Approx(30 + std::log(2.0)).epsilon(1e-6));
    check_equal(far.grads[0], {0});
}

TEST_CASE("linear_cross_entropy: a frozen weight's dX, summed during forward, is that of a trained one", "[engine]") {
    const Array<float> x = random_array<float>({33, 16}, 1), table = random_array<float>({130, 16}, 2) * 3.0f,
                       dy(Shape{}, 0.5f);
    IdArray targets = random_ids({33}, 130, 3);
    targets.data()[4] = kIgnore;
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const WithPrecision scope(precision);
        for (const double cap : {0.0, 2.0}) {
            const auto loss = [&](const auto& x_, const auto& w) {
                return linear_cross_entropy(x_, w, targets, kIgnore, 48, cap);
            };
            const auto trained = run<float>([&](const auto&in) { return loss(in[0], in[1]); }, {x, table}, dy),
                       frozen = run<float>([&](const auto&in) { return loss(in[0], Tensor<float>(table)); }, {x}, dy);
            CHECK(same_bits(frozen.value, trained.value));
            check_close(frozen.grads[0], trained.grads[0], precision == Precision::bf16 ? 1e-2 : 1e-5);
        }
    }
}

TEST_CASE("linear_cross_entropy: mismatched arguments, blocks, bf16, and any number of threads", "[engine]") {
    const Tensor<double> x(Array<double>({2, 3}, 1.0)), w(Array<double>({4, 3}, 1.0));
    CHECK_THROWS_WITH(linear_cross_entropy(x, w, IdArray({3}, 0)), contains("(2, 3), (4, 3) and (3,)"));
    CHECK_THROWS_WITH(linear_cross_entropy(x, Tensor<double>(Array<double>({4, 2}, 1.0)), IdArray({2}, 0)),
                      contains("(4, 2)"));
    CHECK_THROWS_WITH(linear_cross_entropy(x, w, IdArray({2}, 0), kIgnore, 0, -1), contains("got -1"));
    for (const std::size_t block : {0, 2}) {
        CHECK_THROWS_WITH(linear_cross_entropy(x, w, IdArray({2}, 4), kIgnore, block), contains("below 4"));
        CHECK_THROWS_WITH(linear_cross_entropy(x, w, IdArray({2}, -1), kIgnore, block), contains("got -1"));
    }
    CHECK(columns_at_a_time(16, 100, 4) == 100);
    CHECK(columns_at_a_time(1024, 32768, 4) == 32768);  // 128 MiB
    CHECK_ALL(columns_at_a_time(1024, 32769, 4) == 1024, columns_at_a_time(1 << 16, 50257, 4) == 512);
    const Array<float> large = random_array<float>({96, 48}, 1), weights = random_array<float>({700, 48}, 2);
    const IdArray classes = random_ids({96}, 700, 3);
    const Array<float> dy(Shape{}, 1.0f);
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const WithPrecision scope(precision);
        check_same_with_any_threads("linear_cross_entropy", [&] {
            return all_of(
                run<float>([&](const auto& in) { return linear_cross_entropy(in[0], in[1], classes, kIgnore, 256); },
                           {large, weights}, dy));
        });
        const auto twin = run<float>([&](const auto& in) { return cross_entropy(linear(in[0], in[1]), classes); },
                                     {large, weights}, dy);
        const auto fused =
            run<float>([&](const auto& in) { return linear_cross_entropy(in[0], in[1], classes, kIgnore, 256); },
                       {large, weights}, dy);
        check_close(fused.value, twin.value, 1e-5);
        for (std::size_t i = 0; i < 2; ++i)
            check_close(fused.grads[i], twin.grads[i], precision == Precision::bf16 ? 1e-2 : 1e-5);
    }
}
