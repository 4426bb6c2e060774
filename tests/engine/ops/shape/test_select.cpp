// Elements by index: known values and gradients, repeated ids, views, sorting with ties and NaN, errors, threads.
#include "engine/ops/shape/select.h"

TEMPLATE_TEST_CASE("select: sort and topk, and a row by its number is a view", "[engine]", float, double) {
    const double nan = std::nan(""), inf = kInfinity;
    const Tensor<T> x(of<T>({2, 4}, {3, 1, 3, -inf, nan, inf, 0, nan}), true);
    const Ordered<T> up = sort(x), down = sort(x, -1, true), columns = sort(x, 0);
    check_equal(up.values.value(), {-inf, 1, 3, 3, 0, inf, nan, nan}), check_equal(up.ids, {3, 1, 0, 2, 2, 1, 0, 3});
    check_equal(down.values.value(), {3, 3, 1, -inf, nan, nan, inf, 0});
    check_equal(down.ids, {0, 2, 1, 3, 0, 3, 1, 2});
    check_equal(columns.values.value(), {3, 1, 0, -inf, nan, inf, 3, nan});
    check_equal(columns.ids, {0, 0, 1, 0, 1, 1, 0, 1});
    backward(up.values, of<T>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
    check_equal(x.grad(), {3, 2, 4, 1, 7, 6, 5, 8});
    const Tensor<T> few(of<T>({2, 4}, {3, 1, 3, 5, -1, -2, 0, -1}), true);
    const Ordered<T> two = topk(few, 2);
    check_equal(two.values.value(), {5, 3, 0, -1}), check_equal(two.ids, {3, 0, 2, 0});
    backward(two.values, of<T>({2, 2}, {1, 2, 3, 4}));
    check_equal(few.grad(), {2, 0, 0, 1, 4, 0, 3, 0}), check_equal(topk(few, 1, 0).ids, {0, 0, 0, 0});
    CHECK(topk(few, 0).values.shape() == Shape{2, 0});
    for (const std::size_t n : kRagged) {
        Array<T> many = cast<T>(random_ids({3, n}, 5, n));  // many ties
        many.data()[n / 2] = static_cast<T>(std::nan(""));
        const Ordered<T> all = sort(Tensor<T>(many), 1, true);
        for (const std::size_t k : {std::size_t{1}, n / 2, n}) {
            const Ordered<T> first = topk(Tensor<T>(many), k);
            CHECK(same_bits(first.ids, all.ids.sliced(1, 0, k)));
            check_close(first.values.value(), all.values.value().sliced(1, 0, k), 0);
        }
    }
    const Tensor<T> pair(of<T>({2, 3}, {1, 2, 3, 4, 5, 6}), true);
    CHECK_ALL(pair[1].shape() == Shape{3}, pair[1][2].item() == 6);
    check_equal(pair[-2].value(), {1, 2, 3});
    backward(pair[-1] * pair[0], of<T>({3}, {1, 10, 100}));
    check_equal(pair.grad(), {4, 50, 600, 1, 20, 300});
    CHECK_THROWS_WITH(pair[2], contains("x[i]: row 2 of shape (2, 3) must be between -2 and 1"));
    CHECK_THROWS_WITH(pair[-3], contains("row -3"));
    CHECK_THROWS_AS(pair[0][0][0], AxisError);
}

TEST_CASE("select: mismatched arguments are refused", "[engine]") {
    const Tensor<double> x(Array<double>({2, 3}, 1.0));
    CHECK_THROWS_WITH(gather(x, 1, of<std::int32_t>({2, 1}, {0, 3})), contains("gather: ids", "below 3, got 3"));
    CHECK_THROWS_WITH(gather(x, 1, of<std::int32_t>({2, 1}, {0, -1})), contains("got -1"));
    CHECK_THROWS_WITH(gather(x, 1, of<std::int32_t>({3, 1}, {0, 0, 0})),
                      contains("gather: expected an index of the values' shape", "(3, 1) for shape (2, 3)"));
    CHECK_THROWS_WITH(gather(x, 1, of<std::int32_t>({2}, {0, 0})), contains("(2,) for shape (2, 3)"));
    CHECK_THROWS_WITH(gather(x, 2, of<std::int32_t>({2, 3}, {0, 0, 0, 0, 0, 0})), contains("gather: axis 2"));
    CHECK_THROWS_WITH(gather(x, 1, IdArray()), contains("gather: expected an index"));
    CHECK_THROWS_WITH(index_select(x, 0, of<std::int32_t>({1, 1}, {0})),
                      contains("index_select: expected an index of one axis"));
    CHECK_THROWS_WITH(index_select(x, 0, of<std::int32_t>({1}, {2})), contains("below 2, got 2"));
    CHECK_THROWS_WITH(scatter_add(x, 0, of<std::int32_t>({1, 3}, {0, 0, 0}), x),
                      contains("scatter_add: expected a source of the index's shape", "(2, 3) and (1, 3)"));
    CHECK_THROWS_WITH(topk(x, 4), contains("topk: at most 3", "got 4 of shape (2, 3)"));
    CHECK_THROWS_WITH(sort(x, 2), contains("sort: axis 2"));
}

TEST_CASE("select: the same bits with any number of threads", "[engine][unsanitized]") {
    const IdArray few = random_ids({700, 203}, 300, 1), row = random_ids({5000}, 300, 2);
    const std::vector<Array<float>> at = {random_array<float>({300, 203}, 3), random_array<float>({700, 203}, 4)};
    check_same_with_any_threads("scatter_add and gather", [&] {
        return all_of(
            run<float>([&](const auto& in) { return gather(scatter_add(in[0], 0, few, in[1]), 0, few); }, at));
    });
    check_same_with_any_threads("index_select", [&] {
        return all_of(run<float>([&](const auto& in) { return index_select(in[0], 0, row); }, {at[0]}));
    });
    check_same_with_any_threads(
        "sort", [&] { return all_of(run<float>([&](const auto& in) { return sort(in[0], 0).values; }, {at[0]})); });
}
