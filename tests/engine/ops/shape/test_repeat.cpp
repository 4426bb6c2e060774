// repeat: repeats each entry along an axis several times.
#include "engine/ops/shape/repeat.h"

#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEMPLATE_TEST_CASE("repeat: golden values, and gradients that are sums over the copies", "[engine]", float, double) {
    using T = TestType;
    const Array<T> x = of<T>({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto rows = run<T>([](const auto& in) { return repeat(in[0], 2, 0); }, {x},
                             of<T>({4, 3}, {1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60}));
    CHECK(to_string(rows.value.shape()) == "(4, 3)");
    check_equal(rows.value, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
    check_equal(rows.grads[0], {11, 22, 33, 44, 55, 66});
    const auto columns = run<T>([](const auto& in) { return repeat(in[0], 2, -1); }, {x},
                                of<T>({2, 6}, {1, 1, 0, 1, 5, 5, 2, 0, 0, 0, 1, 2}));
    check_equal(columns.value, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
    check_equal(columns.grads[0], {2, 1, 10, 2, 0, 3});
}

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

TEST_CASE("repeat: float agrees with double, with any number of threads", "[engine]") {
    for (const std::size_t n : {1, 7, 33})
        check_float_against_double([](const auto& in) { return repeat(in[0], 3, 1); }, {Shape{2, 2, n}});
    check_same_with_any_threads("repeat", [] {
        return all_of(
            run<float>([](const auto& in) { return repeat(in[0], 3, 1); }, {random_array<float>({4, 5, 300}, 1)}));
    });
}
