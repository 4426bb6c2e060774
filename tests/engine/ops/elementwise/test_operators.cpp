// Operators between tensors, numbers and arrays, and the effect of += on a variable.

TEST_CASE("operators: a number of any type on either side, and an array as a constant", "[engine]") {
    const auto gradient_of = [](auto f) {
        const auto x = Tensor<double>::from({1, -2, 4}, true);
        sum(f(x)).backward();
        return x.grad();
    };
    const auto x = Tensor<double>::from({1, -2, 4});
    check_equal((2 * x + 1).value(), {3, -3, 9}), check_equal((x * 2 - 1).value(), {1, -5, 7});
    check_equal((1 - x).value(), {0, 3, -3}), check_equal((0.5 + x).value(), {1.5, -1.5, 4.5});
    check_equal((1 / x).value(), {1, -0.5, 0.25}), check_equal((x / 2).value(), {0.5, -1, 2});
    check_equal(gradient_of([](const auto& t) { return 2 * t + 1; }), {2, 2, 2});
    check_equal(gradient_of([](const auto& t) { return t * 3 - 0.5; }), {3, 3, 3});
    check_equal(gradient_of([](const auto& t) { return 1 - t; }), {-1, -1, -1});
    check_equal(gradient_of([](const auto& t) { return 1 / t; }), {-1, -0.25, -0.0625});
    check_equal(gradient_of([](const auto& t) { return t / 4; }), {0.25, 0.25, 0.25});
    for (const double d : {3.0, 7.0, 10.0}) {  // a division, not a product with a rounded inverse
        CHECK((Tensor<float>::from(1) / d).item() == 1.0f / static_cast<float>(d));
        CHECK((Tensor<float>::from(5) / static_cast<int>(d)).item() == 5.0f / static_cast<float>(d));
    }
    const auto two = Tensor<float>::from({1, 2});  // a result does not depend on the number's type
    check_equal((two * 3).value(), {3, 6}), check_equal((two * 3u).value(), {3, 6});
    check_equal((two * 3.0f).value(), {3, 6}), check_equal((two * 3.0).value(), {3, 6});
    check_equal((std::size_t{3} - two).value(), {2, 1});
    static_assert(std::same_as<decltype(2 * two), Tensor<float>>);
    static_assert(std::same_as<decltype(two / 2.0), Tensor<float>>);
    const auto square = Tensor<double>::from({{1, 2}, {3, 4}}, true);
    const Array<double> row = of<double>({10, 20});
    check_equal((square + row).value(), {11, 22, 13, 24}), check_equal((row - square).value(), {9, 18, 7, 16});
    check_equal((square * square.value()).value(), {1, 4, 9, 16}),
        check_equal((square / (2 * row)).value(), {0.05, 0.05, 0.15, 0.1});
    Array<double> writable = row;  // one that is not const
    check_equal((writable + square).value(), {11, 22, 13, 24});
    const Tensor<double> y = square * row;
    sum(y).backward();
    check_equal(square.grad(), {10, 20, 10, 20});
    CHECK_THROWS_WITH(square + of<double>({1, 2, 3}), contains("add", "(3,)"));
}

TEST_CASE("operators: += binds the variable to a new tensor, but a parameter refuses it", "[engine]") {
    const auto x = Tensor<double>::from({1, 2}, true);
    Tensor<double> y = x * x;
    const Tensor<double> old = y;
    y += x;  // x^2 + x
    y *= 3;  // 3 x^2 + 3 x
    y -= 1;  // 3 x^2 + 3 x - 1
    y /= x;  // 3 x + 3 - 1 / x
    y += y;  // 6 x + 6 - 2 / x
    y -= of<double>({1, 1});
    check_equal(old.value(), {1, 4}), check_equal(y.value(), {9, 16});
    sum(y).backward();
    check_equal(x.grad(), {8, 6.5});

    Tensor<double> constant = Tensor<double>::from({1, 2}).detach();
    constant += 1;
    check_equal(constant.value(), {2, 3});
    auto w = Tensor<double>::from({1, 2}, true);  // += on a parameter is refused, and says what to write
    sum(w).backward();
    CHECK_THROWS_WITH(w -= 0.1 * w.grad(), contains("-=:", "value_in_place() -= ..."));
    CHECK_THROWS_WITH(w += w, contains("+=:"));
    CHECK_THROWS_WITH(w *= 2, contains("*=:"));
    CHECK_THROWS_WITH(w /= 2, contains("/=:"));
    check_equal(w.value(), {1, 2});
    CHECK(w.requires_grad());
    const NoGrad scope;
    CHECK_THROWS_AS(w += 1, Error);
}
