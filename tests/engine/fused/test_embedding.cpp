// Embedding: rows by id, gradients added row by row, tables that are views, wrong ids.
#include "engine/fused/embedding.h"

TEMPLATE_TEST_CASE("embedding: rows are looked up and their gradients added", "[engine]", float, double) {
    const IdArray ids = of<std::int32_t>({2, 2}, {2, 0, 2, 2});
    const Tensor<T> table(of<T>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), true);
    const Tensor<T> y = embedding(ids, table);
    CHECK(y.shape() == Shape{2, 2, 2});
    check_equal(y.value(), {5, 6, 1, 2, 5, 6, 5, 6});
    backward(y, of<T>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
    check_equal(table.grad(), {3, 4, 0, 0, 13, 16, 0, 0});
    backward(embedding(of<std::int32_t>({1}), table), of<T>({1, 2}, {10, 20}));  // added to what is there
    check_equal(table.grad(), {3, 4, 10, 20, 13, 16, 0, 0});
    check_equal(embedding(IdArray(Shape{}, 3), table).value(), {7, 8});
    CHECK(embedding(IdArray({0, 5}), table).shape() == Shape{0, 5, 2});
    check_equal(embedding(ids.transposed(0, 1), table).value(), {5, 6, 5, 6, 1, 2, 5, 6});
}

TEST_CASE("embedding: the same bits with any number of threads, and ids outside the table are refused", "[engine]") {
    const IdArray many = random_ids({4, 1000}, 65, 1);
    const std::vector<Array<float>> at = {random_array<float>({65, 257}, 1)};
    check_same_with_any_threads(
        "embedding", [&] { return all_of(run<float>([&](const auto& in) { return embedding(many, in[0]); }, at)); });
    const Tensor<float> table(Array<float>({4, 2}, 1.0f));
    CHECK_THROWS_WITH(embedding(of<std::int32_t>({0, 4}), table),
                      contains("embedding: ids must be at least 0 and below 4, got 4"));
    CHECK_THROWS_WITH(embedding(of<std::int32_t>({-1}), table), contains("got -1"));
    CHECK_THROWS_WITH(embedding(of<std::int32_t>({0}), Tensor<float>(Array<float>({4}, 1.0f))),
                      contains("embedding: expected a table (V, C)", "(4,)"));
}
