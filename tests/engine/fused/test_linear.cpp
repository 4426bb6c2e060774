// The linear layer's product: empty axes, errors, threads, and the same product row by row.
#include "engine/fused/linear.h"

const auto with_bias = [](const auto& in) { return linear(in[0], in[1], in[2]); };
const auto without_bias = [](const auto& in) { return linear(in[0], in[1]); };

TEST_CASE("linear: empty axes, mismatched shapes, and the same bits with any number of threads", "[engine]") {
    const auto no_input = run<double>(with_bias, {normal({3, 0}, 1), normal({2, 0}, 2), of<double>({5, 6})});
    check_equal(no_input.value, {5, 6, 5, 6, 5, 6});
    CHECK(no_input.grads[1].shape() == Shape{2, 0});
    const auto no_rows = run<double>(with_bias, {normal({0, 3}, 1), normal({2, 3}, 2), of<double>({5, 6})});
    CHECK(no_rows.value.shape() == Shape{0, 2});
    check_equal(no_rows.grads[1], {0, 0, 0, 0, 0, 0}), check_equal(no_rows.grads[2], {0, 0});
    const auto no_output = run<double>(without_bias, {normal({3, 2}, 1), normal({0, 2}, 2)});
    check_equal(no_output.grads[0], {0, 0, 0, 0, 0, 0});
    const auto zeros = [](const Shape& shape) { return Tensor<double>(Array<double>(shape, 0.0)); };
    CHECK_THROWS_WITH(linear(zeros({2, 3}), zeros({3, 2})),
                      contains("linear: expected x (..., in), weight (out, in)", "(2, 3), (3, 2) and none"));
    CHECK_THROWS_WITH(linear(zeros({2, 3}), zeros({4, 3}), zeros({3})), contains("(2, 3), (4, 3) and (3,)"));
    CHECK_THROWS_WITH(linear(zeros({2, 3}), zeros({3})), contains("linear"));
    CHECK_THROWS_WITH(linear(zeros({}), zeros({3, 1})), contains("linear", "()"));
    check_same_with_any_threads("linear", [] {
        return all_of(run<float>(with_bias, {random_array<float>({768, 384}, 1), random_array<float>({129, 384}, 2),
                                             random_array<float>({129}, 3)}));
    });
}

TEST_CASE("linear: by row it is the same product, of packed weights too", "[engine]") {
    for (std::size_t i = 0; i < kRagged.size(); ++i) {
        const std::size_t rows = kRagged[i], in = kRagged[(i * 4 + 3) % 15], out = kRagged[(i * 7 + 5) % 15];
        const Tensor<float> x(random_array<float>({2, rows, in}, 1)), w(random_array<float>({out, in}, 2)),
            b(random_array<float>({out}, 3));
        for (const auto type : {WeightType::fp32, WeightType::bf16, WeightType::q8_0}) {
            const Weight<float> weight = Weight(w).as(type);
            INFO(rows << " rows, " << in << " to " << out << ", " << name_of(type));
            for (const Precision precision : {Precision::fp32, Precision::bf16}) {
                if (precision == Precision::bf16 && type != WeightType::bf16) continue;  // linear would round these
                const WithPrecision scope(precision);
                const bool rounds = weight.packed() && weight.packed()->blocks();  // x, to 8 bits
                const double tolerance = rounds ? 0.05 : 2e-5;
                for (const Tensor<float>& bias : {b, Tensor<float>()})
                    check_close(linear_by_row(x, weight, bias).value(), linear(x, weight, bias).value(), tolerance);
            }
        }
    }
    const auto zeros = [](const Shape& shape) { return Tensor<float>(Array<float>(shape, 0.0f)); };
    CHECK(linear_by_row(zeros({0, 3}), zeros({2, 3})).shape() == Shape{0, 2});
    CHECK_THROWS_WITH(linear_by_row(zeros({2, 3}), zeros({3, 2})), contains("(2, 3), (3, 2) and none"));
    CHECK_THROWS_WITH(linear_by_row(zeros({2, 3}), transpose(zeros({3, 2}), 0, 1)), contains("contiguous", "(2, 3)"));
    check_same_with_any_threads("linear by row", [] {
        return std::vector{linear_by_row(Tensor<float>(random_array<float>({9, 384}, 1)),
                                         Tensor<float>(random_array<float>({1000, 384}, 2)))
                               .value()};
    });
}
