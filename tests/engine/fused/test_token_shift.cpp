// Token shift: empty axes, errors, float against double, and any number of threads.
#include "engine/fused/token_shift.h"

TEST_CASE("token_shift: empty axes, mismatched shapes, float as double, and any number of threads", "[engine]") {
    const auto zeros = [](const Shape& shape) { return Tensor<double>(Array<double>(shape, 0.0)); };
    for (const Shape& shape : {Shape{0, 3}, Shape{2, 0, 3}, Shape{3, 0}})
        CHECK(token_shift(zeros(shape), zeros({shape.back()})).shape() == shape);
    CHECK_THROWS_WITH(token_shift(zeros({3}), zeros({3})), contains("token_shift", "(3,) and (3,)"));
    CHECK_THROWS_WITH(token_shift(zeros({2, 3}), zeros({2})), contains("(2, 3) and (2,)"));
    CHECK_THROWS_WITH(token_shift(zeros({2, 3}), zeros({3}), IdArray({3}, 0)),
                      contains("positions", "(3,) for (2, 3)"));
    const auto shifted = [](const auto& in) { return token_shift(in[0], in[1]); };
    for (const std::size_t n : kRagged) check_float_against_double(shifted, {{2, 3, n}, {n}});
    check_same_with_any_threads("token_shift", [&] {
        return all_of(run<float>(shifted, {random_array<float>({4, 65, 130}, 1), random_array<float>({130}, 2)}));
    });
}
