// repeat: one time, empty axes, views, errors. The tests of every op compare its values with PyTorch's.
#include "engine/ops/shape/repeat.h"

#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEST_CASE("repeat: one time is the tensor itself, nothing may be repeated, and arguments must fit", "[engine]") {
    const Tensor<double> x(random_array<double>({2, 3, 4}, 1), true);
    CHECK(repeat(x, 1, 1).value().data() == x.value().data());
    CHECK(to_string(repeat(Tensor<double>(Array<double>({2, 0, 3})), 4, 1).shape()) == "(2, 0, 3)");
    CHECK(to_string(repeat(x, 5, 1).shape()) == "(2, 15, 4)");
    // a view that is not contiguous
    const ConstArray<double> turned = x.value().transposed(0, 2);
    const Array<double> dense = turned.clone();
    check_close(repeat(Tensor<double>(turned), 3, 1).value(), repeat(Tensor<double>(dense), 3, 1).value(), 0);
    const Tensor<float> ones(Array<float>({2, 3}, 1.0f));  // mismatched arguments are refused
    CHECK_THROWS_WITH(repeat(ones, 0, 1), contains("repeat: at least 1 time", "(2, 3)"));
    CHECK_THROWS_WITH(repeat(ones, 2, 2), contains("repeat"));
    CHECK_THROWS_WITH(repeat(ones, 2, -3), contains("repeat"));
}
