// Array: what writes to its elements, what binds anew, and what cannot write.
#include "engine/array/array.h"

#include <xtensor/xview.hpp>

TEST_CASE("array: assignment to a view writes to the elements, to a variable it binds, and is counted", "[engine]") {
    Array<float> a({4}, 0.0f);
    Array<float> view = a.sliced(0, 1, 2);
    const auto before = a.version();
    view.count_write();
    CHECK_ALL(a.version() == before + 1, a.clone().version() == 0);
    Array<double> c({2, 3}, 1.0);
    const auto earlier = c.version();
    c.sliced(0, 0, 1) = of<double>({1, 3}, {5, 6, 7});
    check_equal(c, {5, 6, 7, 1, 1, 1});
    CHECK(c.version() == earlier + 1);
    c.transposed(0, 1).sliced(0, 2, 3) = 9;
    check_equal(c, {5, 6, 9, 1, 1, 9});
    c.sliced(1, 0, 2) = of<double>({2, 1}, {3, 4});  // broadcast
    check_equal(c, {3, 3, 9, 4, 4, 9});
    c.reshaped({6}) = 2.0 * c.reshaped({6}) + 1.0;  // an expression of what it replaces
    check_equal(c, {7, 7, 19, 9, 9, 19});
    c.sliced(1, 0, 2) = c.sliced(1, 1, 3);  // overlapping
    check_equal(c, {7, 19, 19, 9, 19, 19});
    const ConstArray<double> values = of<double>({1, 3}, {1, 2, 3});
    c.sliced(0, 1, 2) = values;
    check_equal(c, {7, 19, 19, 1, 2, 3});
    Array<double> u = c.sliced(0, 0, 1);
    u = of<double>({2}, {8, 8});
    check_equal(u, {8, 8}), check_equal(c, {7, 19, 19, 1, 2, 3});
    u = c;
    CHECK(u.same_buffer(c));
    CHECK_THROWS_WITH(c.sliced(0, 0, 1) = of<double>({2}, {1, 2}), contains("array: ", "(1, 3)", "(2,)"));
    CHECK_THROWS_AS(c.sliced(0, 0, 1) = of<double>({2, 3}, {1, 2, 3, 4, 5, 6}), Error);
    check_equal(c, {7, 19, 19, 1, 2, 3});
}

TEST_CASE("array: compound assignment writes to the elements, through a variable too", "[engine]") {
    Array<double> c({2, 3}, 1.0);
    Array<double> u = c.sliced(0, 0, 1);
    const Array<double> step = of<double>({1, 3}, {1, 2, 3});
    const auto before = c.version();
    u += step;
    check_equal(c, {2, 3, 4, 1, 1, 1});
    CHECK(c.version() == before + 1);
    u -= 0.5 * step;
    check_equal(c, {1.5, 2, 2.5, 1, 1, 1});
    u *= of<double>({3}, {2, 3, 4});
    check_equal(c, {3, 6, 10, 1, 1, 1});
    u /= 2;
    check_equal(c, {1.5, 3, 5, 1, 1, 1});
    c.transposed(0, 1) += of<double>({2}, {10, 20});
    check_equal(c, {11.5, 13, 15, 21, 21, 21});
    c += c;
    check_equal(c, {23, 26, 30, 42, 42, 42});
    Array<float> narrow({2}, 1.0f);
    narrow -= 0.25 * narrow;  // of double
    check_equal(narrow, {0.75, 0.75});
    IdArray whole({2}, 7);
    whole /= 2;
    check_equal(whole, {3, 3});
    CHECK_THROWS_WITH(u += c, contains("array: ", "(1, 3)", "(2, 3)"));
    CHECK_THROWS_AS(u -= of<double>({2}, {1, 2}), Error);
    CHECK_THROWS_AS(u = c.sliced(0, 0, 1) += of<double>({2}, {1, 2}), Error);
    Array<double> none;
    CHECK_THROWS_WITH(none += step, contains("array: one without elements"));
    CHECK_THROWS_AS(none *= 2, Error);
    check_equal(c, {23, 26, 30, 42, 42, 42});
}

TEST_CASE("array: through a ConstArray, and its copies and views, nothing can be written", "[engine]") {
    using Const = ConstArray<double>;
    Array<double> a = counting({2, 3});
    const Const c = a;
    auto v = c, row = v.sliced(0, 1, 2);  // no const
    check_equal(v.transposed(0, 1), {0, 3, 1, 4, 2, 5});
    check_equal(Array<double>(2.0 * row + xt::view(v, 0)), {6, 9, 12});
    CHECK_ALL(v(1, 2) == 5, v.same_buffer(a));
    a(1, 2) = 50;
    CHECK(row(0, 2) == 50);
    STATIC_REQUIRE(std::is_same_v<decltype(v(0, 0)), const double&>);
    STATIC_REQUIRE(std::is_same_v<decltype(v.data()), const double*>);
    STATIC_REQUIRE(std::is_same_v<decltype(*v.begin()), const double&>);
    STATIC_REQUIRE(std::is_same_v<decltype(xt::view(v, 0)(0)), const double&>);
    STATIC_REQUIRE(std::is_same_v<decltype(v.contiguous()), Const>);
    STATIC_REQUIRE(std::is_same_v<decltype(v.reshaped({6})), Const>);
    STATIC_REQUIRE(std::is_same_v<decltype(v.permuted({1, 0})), Const>);
    STATIC_REQUIRE(std::is_same_v<decltype(a.broadcasted({2, 2, 3})), Const>);  // several elements in one place
    STATIC_REQUIRE(std::is_same_v<decltype(v.clone()), Array<double>>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<Const, Array<double>>);  // neither as a handle nor, unasked, as a copy
    STATIC_REQUIRE_FALSE(std::is_convertible_v<Const, Array<double>&>);
    STATIC_REQUIRE_FALSE(Assignable<Array<double>&, Const>);
    STATIC_REQUIRE_FALSE(AddsTo<Const, double>);
    STATIC_REQUIRE_FALSE(AddsTo<Const, Array<double>>);
    STATIC_REQUIRE(AddsTo<Array<double>, Const>);
    STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const Tensor<double>&>().value()), const Const&>);
}

TEST_CASE("array: copy_into and add_into follow any strides", "[engine]") {
    for (const std::size_t rows : {1, 7, 130})
        for (const std::size_t columns : {1, 33, 1000}) {
            const Array<double> src = random_array<double>({columns, rows}, 1).transposed(0, 1);
            Array<double> wide({rows, 2 * columns}, 0.5);
            Array<double> dst = wide.sliced(1, 0, 2 * columns, 2);
            copy_into(dst, src);
            CHECK(same_bits(dst, src));
            add_into(dst, src);
            const Array<double> twice = 2.0 * src;
            CHECK(same_bits(dst, twice));
            CHECK(same_bits(wide.sliced(1, 1, 2 * columns, 2), Array<double>({rows, columns}, 0.5)));
        }
    Array<double> dst({2, 3});
    CHECK_THROWS_WITH(copy_into(dst, Array<double>({3, 2})), contains("(2, 3) and (3, 2)"));
    CHECK_THROWS_AS(add_into(dst, Array<double>({3})), Error);
}
