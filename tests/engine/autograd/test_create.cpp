// Tensors of given or random numbers, and tensors as text.

template <class X>
static std::string printed(const X& x) {
    std::ostringstream out;
    out << x;
    return out.str();
}

TEST_CASE("create: from takes numbers in nested braces", "[engine]") {
    const auto check_from = [](const Tensor<double>& x, const Shape& shape, const std::vector<double>& values) {
        CHECK(to_string(x.shape()) == to_string(shape));
        check_equal(x.value(), values);
    };
    check_from(Tensor<double>::from(5), {}, {5}), check_from(Tensor<double>::from({5}), {1}, {5});
    check_from(Tensor<double>::from({1, 2.5, 3}), {3}, {1, 2.5, 3});
    check_from(Tensor<double>::from({{1, 2}, {3, 4}}), {2, 2}, {1, 2, 3, 4});
    check_from(Tensor<double>::from({{1, 2}}), {1, 2}, {1, 2});
    check_from(Tensor<double>::from({{1}, {2}}), {2, 1}, {1, 2});
    check_from(Tensor<double>::from({{1.0}, {2.0}}), {2, 1}, {1, 2});
    check_from(Tensor<double>::from({{{1, 2, 3}, {4, 5, 6}}}), {1, 2, 3}, {1, 2, 3, 4, 5, 6});
    check_from(Tensor<double>::from({{{{1}}, {{2}}}}), {1, 2, 1, 1}, {1, 2});
    check_from(Tensor<double>::from({}), {0}, {});
    const int n = 7;
    check_from(Tensor<double>::from({n, 2 * n}), {2}, {7, 14});
    check_equal(Tensor<float>::from({0.5, 2}).value(), {0.5, 2});
    CHECK_FALSE(Tensor<double>::from({1, 2}).requires_grad());
    CHECK(Tensor<double>::from({1, 2}, true).requires_grad());
    CHECK_THROWS_WITH(Tensor<double>::from({{1, 2}, {3}}),
                      contains("from: expected parts of equal shapes", "(2,) and (1,)"));
    CHECK_THROWS_WITH(Tensor<double>::from({{1, 2}, 3}), contains("(2,) and ()"));
    const auto shaped = Tensor<float>::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}, true);  // a vector, a shape
    CHECK(shaped.shape() == Shape{2, 3});
    CHECK(shaped.requires_grad());
    CHECK_THROWS_WITH(Tensor<float>::from(std::vector<float>{1, 2}, {3}), contains("2 numbers do not fill shape (3,)"));
}

TEST_CASE("create: zeros, ones, full, arange, and random numbers by their key alone", "[engine]") {
    check_equal(Tensor<double>::zeros({2, 2}).value(), {0, 0, 0, 0});
    check_equal(Tensor<double>::ones({3}).value(), {1, 1, 1});
    const auto w = Tensor<float>::full({2, 1}, 0.5, true);
    check_equal(w.value(), {0.5, 0.5});
    CHECK(w.shape() == Shape{2, 1});
    CHECK_ALL(w.requires_grad(), Tensor<double>::zeros({2}, true).requires_grad());
    CHECK_FALSE(Tensor<double>::ones({2}).requires_grad());
    CHECK(Tensor<double>::zeros({0, 3}).size() == 0);
    check_equal(Tensor<double>::arange(4).value(), {0, 1, 2, 3});
    check_equal(Tensor<double>::arange(1, 2, 0.25).value(), {1, 1.25, 1.5, 1.75});
    check_equal(Tensor<double>::arange(1, 2.1, 0.5).value(), {1, 1.5, 2});
    check_equal(Tensor<double>::arange(3, 0, -1).value(), {3, 2, 1});
    CHECK(Tensor<double>::arange(2, 2).size() == 0);
    for (const double step : {0.0, -1.0})
        CHECK_THROWS_WITH(Tensor<double>::arange(0, 2, step), contains("arange: expected steps that lead"));
    CHECK_THROWS_AS(Tensor<double>::arange(0, kInfinity), Error);
    Generator random{5, 0};
    const auto x = Tensor<double>::randn({100, 100}, random.next(), true);
    CHECK_ALL(x.requires_grad(), mean(x).item() == Approx(0).margin(0.03));
    CHECK(mean(x * x).item() == Approx(1).epsilon(0.03));
    CHECK(same_bits(x.value(), Tensor<double>::randn({100, 100}, {.seed = 5, .stream = 0}).value()));
    CHECK_FALSE(same_bits(x.value(), Tensor<double>::randn({100, 100}, random.next()).value()));
    CHECK(x.value()(0, 1) == random_normal({5, 0}, 1));
    const auto u = Tensor<float>::rand({1000}, {5, 2});
    CHECK_ALL(max(u).item() < 1, max(-u).item() <= 0, mean(u).item() == Approx(0.5).margin(0.03));
    check_same_with_any_threads("randn", [] {
        return std::vector<ConstArray<double>>{Tensor<double>::randn({40, 1000}, {1, 1}).value(),
                                               Tensor<double>::rand({40, 1000}, {1, 1}).value()};
    });
}

TEST_CASE("print: a tensor shows its shape, its op and its values, an array its values", "[engine]") {
    const auto x = Tensor<double>::from({{1, 2.5}, {-3, 4}}, true);  // an array shows its values
    CHECK(printed(x) == "Tensor (2, 2) leaf\n{{ 1. ,  2.5},\n {-3. ,  4. }}");
    CHECK(printed(x.detach()) == "Tensor (2, 2)\n{{ 1. ,  2.5},\n {-3. ,  4. }}");
    CHECK(printed(x * x).starts_with("Tensor (2, 2) mul\n{{  1.  ,   6.25},\n"));
    CHECK(printed(transpose(x, 0, 1)) == "Tensor (2, 2) transpose\n{{ 1. , -3. },\n { 2.5,  4. }}");
    CHECK_ALL(printed(sum(x)) == "Tensor () sum 4.5", printed(Tensor<float>::from(0.25)) == "Tensor () 0.25");
    CHECK(printed(Tensor<float>()) == "Tensor, undefined");
    CHECK(printed(Tensor<float>::zeros({0})).starts_with("Tensor (0,)\n"));
    CHECK(printed(Tensor<float>::zeros({500, 500})).size() < 1000);
    backward(sum(x * x));
    CHECK(printed(x.grad()) == "{{ 2.,  5.},\n {-6.,  8.}}");
    CHECK_ALL(printed(x.value()) == "{{ 1. ,  2.5},\n {-3. ,  4. }}", printed(argmax(x, 1)) == "{1, 1}");
    CHECK_ALL(printed(causal_mask(2, 2)) == "{{0, 1},\n {0, 0}}", printed(of<float>(Shape{}, {0.25})) == " 0.25");
    CHECK(printed(Array<double>()) == "undefined");
}
