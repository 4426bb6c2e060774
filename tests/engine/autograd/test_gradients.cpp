// gradients(): it leaves the leaves' gradients alone; gradients of gradients of every op, and the functions built on
// them.
#include "engine/autograd/gradients.h"

#include "engine/gradcheck/op_cases.h"

using D = Tensor<double>;

// sin(seed n), n = 1, 2, ..., as in tests/reference/make_second_order_reference.py.
static D numbers(const Shape& shape, double seed, bool requires_grad = false) {
    Array<double> x(shape);
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(seed * static_cast<double>(i + 1));
    return D(x, requires_grad);
}

TEST_CASE("gradients: known values of derivatives up to the fourth, also through backward()", "[engine]") {
    const D x = D::from({2, -3}, true);
    D d = sum(pow(x, 3));
    for (const std::vector<double>& expected : {std::vector<double>{12, 27}, {12, -18}, {6, 6}}) {
        d = gradients(sum(d), {x}, {.create_graph = true})[0];
        check_close(d.value(), of<double>(expected), 1e-14);
    }
    check_equal(gradients(sum(d), {x})[0].value(), {0, 0});
    CHECK(std::isfinite(x.grad().data()[0]));
    check_equal(x.grad(), {0, 0});  // nothing was added to the leaf

    const D a = D::from(2, true), b = D::from(0.5, true);  // a e^b: the mixed derivative is e^b
    const D da = gradients(a * exp(b), {a}, {.create_graph = true})[0];
    const auto second = gradients(da, {a, b});
    CHECK_ALL(second[0].item() == 0, second[1].item() == Approx(std::exp(0.5)));
    const D w = D::from({1, 2}, true), at = D::from({3, -1}, true);
    const D slope = gradients(sum(w * w * at * at), {at}, {.create_graph = true})[0];  // 2 w^2 at
    sum(slope * slope).backward();                                                     // 4 w^4 at^2
    check_close(w.grad(), of<double>({144, 128}), 1e-14);                              // 16 w^3 at^2
    check_close(at.grad(), of<double>({24, -128}), 1e-14);                             // 8 w^4 at
}

TEST_CASE("gradients: of every op have gradients, with a graph or without, float or double", "[engine][unsanitized]") {
    for (const OpCase<double>& row : op_cases<double>()) {
        const double error = second_gradient_error(row);
        INFO(row.name << ": " << error);
        CHECK(error < 1e-7);
    }
    const auto compare = [](const auto& row, auto zero, double tolerance) {
        using T = decltype(zero);
        INFO(row.name);
        std::vector<Tensor<T>> in;
        for (const auto& x : row.inputs.at(0)) in.emplace_back(cast<T>(x), true);
        const Tensor<T> y = row.function(in), dy(random_array<T>(y.shape(), 5));
        const auto graph = gradients(y, in, {.dy = dy, .create_graph = true});
        const auto plain = gradients(y, in, {.dy = dy, .keep_graph = true});
        backward(y, dy.value());
        for (std::size_t i = 0; i < in.size(); ++i) {
            check_close(graph[i].value(), plain[i].value(), tolerance, "with a graph");
            CHECK(same_bits(plain[i].value(), in[i].grad()));
        }
    };
    for (const auto& row : op_cases<float>()) compare(row, float{}, 2e-2);  // some are of bfloat16
    for (const auto& row : op_cases<double>()) compare(row, double{}, 1e-12);
}

TEST_CASE("gradients: other leaves stay as they were, what has no second derivative is named", "[engine]") {
    const D x = D::from({1, 2}, true), w = D::from({3, 4}, true), h = x * w, y = sum(h * h * w), other = sum(exp(w));
    const auto g = gradients(y + other, {h, x, h}, {.keep_graph = true});
    check_close(g[0].value(), of<double>({18, 64}), 1e-14);  // 2 h w
    check_close(g[1].value(), of<double>({54, 256}), 1e-14);
    CHECK(same_bits(g[0].value(), g[2].value()));
    check_equal(w.grad(), {0, 0});
    backward(y);  // the graph was kept
    check_close(x.grad(), of<double>({54, 256}), 1e-14);
    CHECK_THAT(error_of<Error>([&] { gradients(y, {x}); }), contains("already run and released"));
    backward(other);                                                        // what does not lead to x was not run
    check_equal(gradients(x, {x}, {.dy = w.detach()})[0].value(), {3, 4});  // of itself
    check_equal(gradients(sum(w), {x})[0].value(), {0, 0});                 // of what does not depend on it
    const D base = D::from({1, 2}, true);
    const auto snake = [](const D& in) {
        return record("snake", in.value().clone(), inputs(in),
                      [](const Array<double>& dy, Gradients<double>& grads) { grads.add(0, dy.clone()); });
    };
    const auto twice = [&](const D& squares) {
        return error_of<Error>([&] { gradients(sum(squares), {base}, {.create_graph = true}); });
    };
    CHECK_THAT(twice(snake(base)), contains("gradients: 'snake' cannot be differentiated twice"));
    check_equal(gradients(sum(snake(base)), {base})[0].value(), {1, 1});
    const D hooked = base * 2;
    hooked.on_grad([](Array<double>& dy) { dy *= 2.0; });
    CHECK_THAT(twice(hooked * 3), contains("has a hook of on_grad()"));
    check_equal(gradients(sum(hooked), {base})[0].value(), {4, 4});
    const D at = D::from({1, 2}, true), c = D::from({1, 2});  // misuse
    CHECK_THAT(error_of<Error>([&] { gradients(sum(at), {at, c}); }), contains("input 1 of 2 requires no gradient"));
    CHECK_THAT(error_of<Error>([&] { gradients(c, {at}); }), contains("gradients: the tensor does not depend"));
    CHECK_THAT(error_of<Error>([&] { gradients(at * 2, {at}); }), contains("expected a cotangent"));
    CHECK_THAT(error_of<Error>([&] { gradients(at * 2, {at}, {.dy = D::zeros({3})}); }), contains("got (3,) for (2,)"));
    const D squares = sum(at * at);
    const NoGrad scope;
    CHECK_THAT(error_of<Error>([&] { gradients(squares, {at}, {.create_graph = true}); }), contains("NoGrad"));
    const EnableGrad again;
    CHECK((at * at).requires_grad());
}

TEST_CASE("gradients: an op may have its composition's gradient, in every kind of run", "[engine]") {
    const auto square = [](const D& in) {
        return record("square", Array<double>(in.value() * in.value()), inputs(in),
                      [x = Saved(in)](const D& dy, Gradients<double>& grads) {
                          grads.add_through(dy, [&] { return grads.in(0, *x) * grads.in(0, *x); });
                      });
    };
    const D x = D::from({1, -3}, true), h = x * 2;
    backward(sum(square(h)) + sum(square(x)));
    check_equal(x.grad(), {10, -30});  // 8 x + 2 x
    check_equal(gradients(sum(square(square(x))), {x})[0].value(), {4, -108});
    const D g = gradients(sum(square(x) * x), {x}, {.create_graph = true})[0];
    check_equal(g.value(), {3, 27}), check_equal(gradients(sum(g), {x})[0].value(), {6, -18});
    CHECK_FALSE(square(x.detach()).requires_grad());
}

TEST_CASE("derivatives: Jacobian, Hessian and their products with a vector", "[engine]") {
    const NoGrad around;  // they work there, too
    const D x = D::from({1, 2, 3}), v = D::from({1, -1, 0.5});
    const auto f = [](const D& in) { return concatenate({in * in, reshape(sum(in), Shape{1})}, 0); };
    check_equal(jacobian(f, x).value(), {2, 0, 0, 0, 4, 0, 0, 0, 6, 1, 1, 1});
    check_equal(jvp(f, x, v).value(), {2, -4, 3, 0.5});
    const auto g = [](const D& in) { return prod(in); };
    CHECK(hessian(g, x).shape() == Shape{3, 3});
    check_close(hessian(g, x).value(), of<double>({3, 3}, {0, 3, 2, 3, 0, 1, 2, 1, 0}), 1e-14);
    check_close(hvp(g, x, v).value(), of<double>({-2, 3.5, 1}), 1e-14);
    check_equal(hvp([](const D& in) { return sum(in); }, x, v).value(), {0, 0, 0});
    check_equal(jvp([](const D&) { return D::ones({2}); }, x, v).value(), {0, 0});
    check_equal(hessian([](const D&) { return D::ones({}); }, D::ones({1})).value(), {0});
    CHECK_THAT(error_of<Error>([&] { hessian([](const D& in) { return in * in; }, x); }),
               contains("hessian: expected a function whose value is one number"));
    CHECK_THAT(error_of<Error>([&] { jvp(f, x, D::ones({2})); }), contains("jvp: expected a direction"));
    CHECK_THAT(error_of<Error>([&] { hvp(g, x, D::ones({2})); }), contains("hvp: expected a direction"));
}

TEST_CASE("gradients: a gradient penalty is trained as PyTorch trains it", "[engine]") {
    const auto expected = reference("second_order.json")["penalty"];
    D w1 = numbers({5, 3}, 0.7, true), b1 = numbers({5}, 1.3, true), w2 = numbers({1, 5}, 2.1, true);
    const D x = numbers({8, 3}, 0.3, true);
    for (const double loss : expected["losses"]) {
        const D y = linear(tanh(linear(x, w1, b1)), w2);
        const D slope = norm(gradients(sum(y), {x}, {.create_graph = true})[0], 2, 1);
        const D total = mean(y) + 10 * mean(pow(slope - 1, 2));
        CHECK(total.item() == Approx(loss).epsilon(1e-12));
        const auto g = gradients(total, {w1, b1, w2});
        std::size_t i = 0;
        for (D* p : {&w1, &b1, &w2}) p->value_in_place() -= 0.05 * g[i++].value();
    }
    check_close(w1.value(), array_from<double>(expected["w1"]), 1e-12);
    check_close(b1.value(), array_from<double>(expected["b1"]), 1e-12);
    check_close(w2.value(), array_from<double>(expected["w2"]), 1e-12);
}

TEST_CASE("derivatives: the Hessian of a small network is PyTorch's", "[engine]") {
    const D x = numbers({4, 3}, 0.9), w2 = numbers({3, 2}, 1.7);
    const IdArray ids = xt::xarray<int>{0, 2, 1, 2};
    const auto loss = [&](const D& w) {
        return cross_entropy(linear(layer_norm(softplus(linear(x, w)), {}, {}), w2), ids);
    };
    const D h = hessian(loss, numbers({2, 3}, 0.4));
    check_close(h.value(), array_from<double>(reference("second_order.json")["loss"]["hessian"]), 1e-9);
}
