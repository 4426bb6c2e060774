// Matrix products of tensors: batches that broadcast, empty axes, errors. test_gemm.cpp has float against double.
#include "engine/ops/matrix/matmul.h"

const auto product_of = [](const auto& in) { return matmul(in[0], in[1]); };

TEST_CASE("matmul: batches broadcast as in NumPy, empty axes, and shapes that do not fit", "[engine]") {
    const std::vector<std::vector<Shape>> pairs = {
        {{2, 3, 4}, {2, 4, 5}},    {{2, 3, 4}, {4, 5}},    {{3, 4}, {2, 4, 5}},         {{2, 1, 3, 4}, {3, 4, 5}},
        {{1, 3, 4}, {2, 2, 4, 5}}, {{2, 3, 4}, {1, 4, 5}}, {{2, 1, 1, 4}, {2, 3, 4, 5}}};
    for (const auto& shapes : pairs) {
        INFO(to_string(shapes[0]) << " " << to_string(shapes[1]));
        const Array<double> a = normal(shapes[0], 1), b = normal(shapes[1], 2);
        const Tensor<double> y = matmul(Tensor<double>(a), Tensor<double>(b));
        Array<double> expected(y.shape());
        plain_product(a, b, expected);
        check_close(y.value(), expected, 1e-14);
    }
    const std::pair<Shape, Shape> shapes[] = {{{0, 3}, {3, 2}},      {{2, 0}, {0, 3}},    {{2, 3}, {3, 0}},
                                              {{4, 2, 3}, {3, 0}},   {{4, 2, 0}, {0, 3}}, {{0, 2, 3}, {3, 2}},
                                              {{0, 2, 3}, {0, 3, 2}}};
    for (const auto& [a, b] : shapes) {
        INFO(to_string(a) << " " << to_string(b));
        const auto r = run<double>(product_of, {normal(a, 1), normal(b, 2)});
        check_close(r.value, Array<double>(r.value.shape(), 0.0), 0), check_close(r.grads[0], Array<double>(a, 0.0), 0);
        check_close(r.grads[1], Array<double>(b, 0.0), 0);
    }
    const auto zeros = [](const Shape& shape) { return Tensor<double>(Array<double>(shape, 0.0)); };
    CHECK_THROWS_WITH(matmul(zeros({2, 3}), zeros({2, 3})), contains("matmul", "(2, 3) and (2, 3)"));
    CHECK_THROWS_WITH(matmul(zeros({3}), zeros({2, 2})), contains("(3,) and (2, 2)"));
    CHECK_THROWS_WITH(matmul(zeros({2, 3}), zeros({2})), contains("matmul"));
    CHECK_THROWS_WITH(matmul(zeros({2, 2, 3}), zeros({3, 3, 2})), contains("matmul: shapes must broadcast"));
}
