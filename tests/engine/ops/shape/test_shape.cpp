// Views and joins: their values, that views copy nothing, and gradients through any stack of views.
#include "engine/ops/shape/shape.h"

using In = std::vector<Tensor<double>>;

// Splits by copied slices: the slow twin of split().
template <class T>
static std::vector<Tensor<T>> split_by_copies(const Tensor<T>& x, std::size_t parts, std::ptrdiff_t axis) {
    std::vector<Tensor<T>> pieces;
    const std::size_t width = x.dim(axis) / parts;
    for (std::size_t i = 0; i < parts; ++i) {
        const Tensor<T> piece = slice(x, axis, i * width, (i + 1) * width);
        pieces.push_back(record("copy", piece.value().clone(), inputs(piece),
                                [](const Array<T>& dy, Gradients<T>& grads) { grads.add(0, dy.clone()); }));
    }
    return pieces;
}

TEST_CASE("shape: views share the buffer, mismatched shapes are refused by name", "[engine]") {
    const Tensor<double> x(counting({2, 3}), true);
    for (const auto& view :
         {reshape(x, {6}), permute(x, {1, 0}), transpose(x, 0, 1), slice(x, 0, 0, 1), split(x, 3, 1)[2]})
        CHECK(view.value().same_buffer(x.value()));
    const Tensor<double> b(of<double>({2, 2}, {3, 4, 5, 6}));  // concatenate takes parts of no rows, and stack numbers
    check_equal(concatenate<double>({b, Tensor<double>(Array<double>({0, 2}))}, 0).value(), {3, 4, 5, 6});
    CHECK(stack<double>({Tensor<double>(of<double>(Shape{}, {1})), Tensor<double>(of<double>(Shape{}, {2}))}, 0)
              .shape() == Shape{2});
    const Tensor<double> z(counting({2, 3}), true), y(counting({2, 2})), deep(counting({1, 1, 1, 1, 1, 2}));
    CHECK_THROWS_WITH(reshape(z, {4}), contains("reshape", "(4,)", "(2, 3)"));
    CHECK_THROWS_WITH(permute(z, {0, 2}), contains("permute: axis 2 must be between -2 and 1"));
    CHECK_THROWS_WITH(permute(z, {1, 1}), contains("permute", "(2, 3)"));
    CHECK_THROWS_WITH(permute(deep, {0}), contains("permute", "(0,)"));
    CHECK_THROWS_WITH(transpose(z, 0, 2), contains("transpose: axis 2"));
    CHECK_THROWS_WITH(slice(z, 0, std::size_t(-1), 1), contains("got [-1, 1) by 1"));
    CHECK_THROWS_WITH(slice(z, 0, 1, 3), contains("slice", "(2, 3)"));
    CHECK_THROWS_WITH(split(z, 2, 1), contains("split: 2 equal parts", "(2, 3)"));
    CHECK_THROWS_AS(split(z, 0, 1), Error);
    CHECK_THROWS_WITH(concatenate<double>({z, y}, 0), contains("concatenate", "(2, 3) and (2, 2)"));
    CHECK_THROWS_WITH(concatenate<double>({z, deep}, 0), contains("concatenate"));
    CHECK_THROWS_WITH(concatenate<double>({}, 0), contains("concatenate: at least one"));
    CHECK_THROWS_WITH(stack<double>({z, y}, 0), contains("stack", "(2, 3) and (2, 2)"));
    CHECK_THROWS_AS(stack<double>({}, 0), Error);
    CHECK_THROWS_WITH(stack<double>({z, z}, 3), contains("stack: axis 3"));
}

TEST_CASE("shape: pieces that are used twice, not at all, or through several views", "[engine]") {
    using Use = Tensor<double> (*)(const In& p);
    const std::vector<Use> uses = {
        [](const In& p) { return matmul(p[0], transpose(p[0], -2, -1)); },
        [](const In& p) { return matmul(transpose(p[0], 0, 1), p[0]) + matmul(transpose(p[0], 0, 1), p[2]); },
        [](const In& p) { return matmul(transpose(p[1], 0, 1), transpose(transpose(p[1], 0, 1), 0, 1)); },
        [](const In& p) { return p[2] * p[2] + p[1]; },
        [](const In& p) { return linear(p[0], p[0]) + linear(p[0], p[1]); },
        [](const In& p) { return slice(p[0], 0, 0, 2) + slice(p[0], 0, 2, 4) + slice(p[2], 0, 1, 3); },
        [](const In& p) {
            return concatenate<double>({p[1], p[0], p[1]}, 0);
        },
        [](const In& p) { return split(p[0], 2, -1)[0] * split(p[0], 2, 1)[1] + split(p[1], 2, 1)[0]; },
        [](const In& p) { return matmul(split(p[0], 2, 0)[1], transpose(split(p[0], 2, 0)[1], 0, 1)); },
        [](const In& p) {
            return softmax(p[0] + reshape(p[1], {4, 4}), 0) * layer_norm(p[2], {}, {});
        },
    };
    for (std::size_t i = 0; i < uses.size(); ++i)
        for (const std::ptrdiff_t axis : {0, 1}) {
            const Array<double> x = normal(axis == 0 ? Shape{12, 4} : Shape{4, 12}, i + 1);
            const auto with = [&](const auto& cut) {
                return run<double>([&](const auto& in) { return uses[i](cut(in[0], 3, axis)); }, {x});
            };
            const auto views = with([](const auto& t, auto n, auto k) { return split(t, n, k); });
            const auto copies = with([](const auto& t, auto n, auto k) { return split_by_copies(t, n, k); });
            INFO("use " << i << ", axis " << axis);
            CHECK(same_bits(views.value, copies.value));
            check_close(views.grads[0], copies.grads[0], 1e-13);
            const auto twice = [&](const Inputs& in) {  // of something that is itself a view, and used elsewhere
                const Tensor<double> t = transpose(in[0], 0, 1);
                return uses[i](split(transpose(t, 0, 1), 3, axis)) * sum(t * t);
            };
            CHECK(gradient_error(twice, {x}) < 1e-8);
        }
}

TEST_CASE("shape: split runs again on a kept graph, with other pieces wanted", "[engine]") {
    Tensor<double> x(of<double>({1, 2, 3, 4, 5, 6}), true);
    const auto p = split(x, 3, 0);
    const Tensor<double> first = sum(p[0] * p[1]), second = sum(p[2]);
    backward(first, {}, Graph::keep);
    check_equal(x.grad(), {3, 4, 1, 2, 0, 0});
    x.zero_grad();
    backward(second, {}, Graph::keep);
    check_equal(x.grad(), {0, 0, 0, 0, 1, 1});
    backward(first, {}, Graph::keep);
    check_equal(x.grad(), {3, 4, 1, 2, 1, 1});
    const NoGrad scope;
    CHECK_FALSE(split(x, 3, 0)[0].requires_grad());
}

TEMPLATE_TEST_CASE("shape: reshape, flatten, squeeze and unsqueeze are views", "[engine]", float, double) {
    const Tensor<T> x(random_array<T>({2, 3, 4}, 1), true);
    CHECK_ALL(reshape(x, {-1}).shape() == Shape{24}, reshape(x, -1).shape() == Shape{24});
    CHECK(reshape(x, {2, -1}).shape() == Shape{2, 12});
    CHECK(reshape(x, {-1, x.dim(1), 2}).shape() == Shape{4, 3, 2});
    CHECK(reshape(transpose(x, 0, 2), {4, -1}).shape() == Shape{4, 6});
    CHECK(reshape(Tensor<T>(Array<T>({1})), {}).shape() == Shape{});
    CHECK(reshape(Tensor<T>(Array<T>({0, 3})), {-1, 3}).shape() == Shape{0, 3});
    CHECK(reshape(x, {6, -1}).value().same_buffer(x.value()));
    CHECK_THROWS_WITH(reshape(x, {5, -1}), contains("must stay 24, got (5, -1) from (2, 3, 4)"));
    CHECK_THROWS_WITH(reshape(x, {-1, -1}), contains("reshape:", "got (-1, -1)"));
    CHECK_THROWS_WITH(reshape(x, {-2, 12}), contains("reshape: expected sizes of at least 0"));
    CHECK_THROWS_WITH(reshape(Tensor<T>(Array<T>({0, 3})), {0, -1}), contains("got (0, -1)"));
    CHECK_THROWS_WITH(reshape(x, {5, 5}), contains("must stay 24, got (5, 5)"));
    const Tensor<T> thin(random_array<T>({2, 1, 3, 1, 4}, 1), true);
    CHECK(flatten(thin).shape() == Shape{24});
    CHECK(flatten(thin, 2).shape() == Shape{2, 1, 12});
    CHECK(flatten(thin, 1, -2).shape() == Shape{2, 3, 4});
    CHECK_ALL(flatten(thin, 1, 1).shape() == thin.shape(),
              flatten(Tensor<T>(Array<T>(Shape{}, T{1}))).shape() == Shape{1});
    CHECK(squeeze(thin).shape() == Shape{2, 3, 4});
    CHECK(squeeze(thin, {1}).shape() == Shape{2, 3, 1, 4});
    CHECK(squeeze(thin, {-2, 1}).shape() == Shape{2, 3, 4});
    CHECK(unsqueeze(thin, 0).shape() == Shape{1, 2, 1, 3, 1, 4});
    CHECK(unsqueeze(thin, -1).shape() == Shape{2, 1, 3, 1, 4, 1});
    CHECK(unsqueeze(thin, 2).shape() == Shape{2, 1, 1, 3, 1, 4});
    for (const auto& y : {flatten(thin), flatten(thin, 1, 3), squeeze(thin), squeeze(thin, {3}), unsqueeze(thin, 3)}) {
        CHECK(y.value().same_buffer(thin.value()));
        const Array<T> dy = random_array<T>(y.shape(), 3);
        Tensor<T>(thin).zero_grad();
        backward(y, dy);
        CHECK(same_bits(thin.grad().reshaped(y.shape()), dy));
    }
    CHECK_THROWS_WITH(flatten(thin, 2, 1), contains("flatten: the first axis", "2 and 1"));
    CHECK_THROWS_WITH(flatten(thin, 5), contains("flatten: axis 5"));
    CHECK_THROWS_WITH(squeeze(thin, {0}), contains("squeeze: axis 0 must have size 1", "(2, 1, 3, 1, 4)"));
    CHECK_THROWS_WITH(unsqueeze(thin, 6), contains("unsqueeze: axis 6"));
}

TEMPLATE_TEST_CASE("shape: expand copies nothing, and split in parts of any sizes", "[engine]", float, double) {
    const Tensor<T> x(of<T>({2, 1}, {1, 2}), true), number(of<T>(Shape{}, {3}), true);
    const Tensor<T> y = expand(x, {2, -1, 3});
    check_equal(y.value(), {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
    CHECK(y.value().same_buffer(x.value()));
    backward(y, of<T>({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    check_equal(x.grad(), {1 + 2 + 3 + 7 + 8 + 9, 4 + 5 + 6 + 10 + 11 + 12});
    backward(expand(number, {2, 2}), of<T>({2, 2}, {1, 2, 3, 4}));
    check_equal(number.grad(), {10}), check_equal(expand(x, {2, 2}).value(), {1, 1, 2, 2});
    CHECK_THROWS_WITH(expand(x, {3, 1}), contains("expand: shape (2, 1) does not broadcast to (3, 1)"));
    CHECK_THROWS_WITH(expand(x, {-1, 2, 1}), contains("(-1, 2, 1)"));
    CHECK_THROWS_WITH(expand(x, 2), contains("does not broadcast to (2)"));
    const Tensor<T> wide(of<T>({2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    const auto parts = split(wide, {1, 3, 0, 2}, 1);
    REQUIRE(parts.size() == 4);
    CHECK(parts[2].shape() == Shape{2, 0});
    check_equal(parts[3].value(), {5, 6, 11, 12});
    CHECK(parts[1].value().same_buffer(wide.value()));
    CHECK(split(wide, {6}, 1).size() == 1);  // sizes, not six parts
    CHECK(split(wide, 6, 1).size() == 6);
    CHECK_THROWS_WITH(split(wide, {1, 2}, 1), contains("split: sizes that add up to 6", "got 1 + 2 for shape (2, 6)"));
    CHECK_THROWS_WITH(split(wide, 4, 1), contains("split: 4 equal parts"));
    CHECK_THROWS_WITH(split(wide, {}, 1), contains("split:"));
}

TEST_CASE("shape: an expanded tensor refuses writes in place", "[engine]") {
    const auto x = Tensor<double>::from({{1}, {2}});
    auto y = expand(x, {2, 3}), turned = transpose(y, 0, 1), part = slice(y, 1, 0, 2);
    CHECK_THROWS_WITH(y.value_in_place(), contains("value_in_place:", "axis 1", "(2, 3)", "value().clone()"));
    CHECK_THROWS_WITH(turned.value_in_place() += 1, contains("axis 0 of shape (3, 2)"));
    CHECK_THROWS_AS(part.value_in_place(), Error);
    check_equal(x.value(), {1, 2});

    Tensor<double> copy(y.value().clone());
    copy.value_in_place()(0, 1) = 7;
    check_equal(copy.value(), {1, 7, 1, 2, 2, 2});
    auto column = slice(y, 1, 0, 1), row = expand(x, {1, 2, 1});  // no place twice
    column.value_in_place() += 1;
    row.value_in_place() += 1;
    check_equal(x.value(), {3, 4});
    CHECK_NOTHROW(Tensor<double>::zeros({2, 0, 3}).value_in_place() += 1);
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
    CHECK_THROWS_WITH(repeat(ones, 0, 1), contains("repeat: expected at least 1 time", "(2, 3)"));
    CHECK_THROWS_WITH(repeat(ones, 2, 2), contains("repeat"));
    CHECK_THROWS_WITH(repeat(ones, 2, -3), contains("repeat"));
}
