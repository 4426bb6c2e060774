// Tensors and their graph: recorded nodes, accumulated gradients, lifetimes of values, and errors.
#include "engine/autograd/tensor.h"

static Tensor<double> leaf(const std::vector<double>& values) { return Tensor<double>(of<double>(values), true); }

// The identity, whose backward throws while *broken is true.
static Tensor<double> breakable(const Tensor<double>& x, const std::shared_ptr<bool>& broken) {
    return record("breakable", x.value(), inputs(x), [broken](const Array<double>& dy, Gradients<double>& grads) {
        check(!*broken, "breakable: broken");
        grads.add(0, dy);
    });
}

TEST_CASE("tensor: a graph is recorded only where a gradient is wanted, and never inside NoGrad", "[engine]") {
    const Tensor<double> c(of<double>({1, 2})), w = leaf({3, 4});
    CHECK_ALL(!mul(c, c).requires_grad(), mul(c, w).requires_grad(), mul(c, w).node()->inputs[0] == nullptr);
    CHECK_ALL(std::string(mul(c, w).node()->op) == "mul", !mul(c, w).detach().requires_grad());
    CHECK(w.detach().value().same_buffer(w.value()));
    CHECK_FALSE(Tensor<double>().defined());
    CHECK_THROWS_WITH(c.grad(), contains("requires_grad"));
    CHECK_THROWS_WITH(backward(sum(c)), contains("does not depend on anything that requires a gradient"));
    const Tensor<double> v = leaf({3});
    {
        const NoGrad outer;
        { const NoGrad inner; }
        CHECK_ALL(NoGrad::active(), !mul(v, v).requires_grad());
    }
    CHECK_FALSE(NoGrad::active());
    try {
        const NoGrad scope;
        throw Error("left by an exception");
    } catch (const Error&) {
    }
    CHECK(mul(v, v).requires_grad());
    CHECK(Tensor<double>(of<double>({1, 1}, {2.5})).item() == 2.5);
    CHECK_THROWS_WITH(leaf({1, 2}).item(), contains("item", "(2,)"));
}

TEST_CASE("tensor: every use of a tensor adds to its gradient, no use leaves it 0", "[engine]") {
    const Tensor<double> x = leaf({3, -2});
    backward(sum(mul(x, x)));
    check_equal(x.grad(), {6, -4});

    const Tensor<double> u = leaf({3, -2});
    backward(sum(add(u, u)));
    check_equal(u.grad(), {2, 2});

    const Tensor<double> a = leaf({3, -2});  // a diamond: (a + 1) (a * 2) + a
    backward(sum(add(mul(affine(a, 1, 1), scale(a, 2)), a)));
    check_equal(a.grad(), {4 * 3 + 3, 4 * -2 + 3});

    const Tensor<double> deep = leaf({1});  // doubled 40 times, each node used twice
    Tensor<double> y = deep;
    for (int i = 0; i < 40; ++i) y = add(y, y);
    backward(y);
    check_equal(deep.grad(), {0x1p40});
    const Tensor<double> used = leaf({1, 2}), unused = leaf({3, 4});
    backward(sum(used));
    check_equal(unused.grad(), {0, 0});  // an input that the value does not depend on has gradient zero
    check_equal(used.grad(), {1, 1});
    const Tensor<double> w = leaf({1, 2});
    backward(sum(mul(w, w)), Array<double>(Shape{}, 0.0));
    check_equal(w.grad(), {0, 0});
}

TEST_CASE("tensor: gradients of several runs add up until zero_grad, and start apart", "[engine]") {
    Tensor<double> x = leaf({3});
    backward(mul(x, x));
    const Array<double> first = x.grad();
    backward(scale(x, 10));
    check_equal(x.grad(), {16});
    check_equal(first, {6});  // what was handed out does not change under its holder
    x.zero_grad();
    check_equal(x.grad(), {0});
    backward(x);
    check_equal(x.grad(), {1});
    const Tensor<double> a = leaf({1, 2}), b = leaf({3, 4});
    Array<double> dy = of<double>({5, 6});
    backward(add(a, b), dy);  // both take over the same array
    dy.data()[0] = 0;
    backward(sum(scale(a, 100)));
    check_equal(a.grad(), {105, 106}), check_equal(b.grad(), {5, 6});
    const auto parts = {leaf({1}), leaf({2})};  // pieces of one array
    const Tensor<double> joined = concatenate<double>(parts, 0);
    backward(joined, of<double>({7, 8})), backward(sum(*parts.begin()));
    check_equal(parts.begin()->grad(), {8}), check_equal((parts.begin() + 1)->grad(), {8});
}

TEST_CASE("tensor: 100,000 ops in a row run backward and are destroyed", "[engine][unsanitized]") {
    constexpr int n = 100000;
    const Tensor<double> x = leaf({1, 2});
    {
        Tensor<double> y = x;
        for (int i = 0; i < n; ++i) y = affine(y, 1.0, 0.001);
        backward(y, of<double>({2, 3}));
        check_equal(x.grad(), {2, 3});
        check_close(y.value(), of<double>({101, 102}), 1e-9);
    }
    {
        Tensor<double> kept = x;
        for (int i = 0; i < n; ++i) kept = add(kept, x);
        backward(kept, of<double>({1, 1}), Graph::keep);  // destroyed with all its nodes
        check_equal(x.grad(), {2 + n + 1, 3 + n + 1});
    }
    Tensor<double> never_run = x;
    for (int i = 0; i < n; ++i) never_run = mul(never_run, i % 2 ? x : never_run);
    never_run = Tensor<double>();
    Tensor<double> views = reshape(x, {2, 1});
    for (int i = 0; i < n; ++i) views = transpose(views, 0, 1);
    backward(views, of<double>({2, 1}, {1, 1}));
    check_equal(x.grad(), {2 + n + 2, 3 + n + 2});
}

TEST_CASE("tensor: a kept graph runs again, and a cotangent has the value's shape", "[engine]") {
    Tensor<double> x(random_array<double>({6, 12}, 1), true), w(random_array<double>({12, 12}, 2), true);
    const auto q = split(matmul(x, w), 3, -1);
    const Tensor<double> y =
        sum(mul(softmax(matmul(q[0], transpose(q[1], 0, 1))), matmul(q[1], transpose(q[2], 0, 1))));
    backward(y, {}, Graph::keep);
    const Array<double> dx = x.grad().clone(), dw = w.grad().clone();
    x.zero_grad(), w.zero_grad();
    backward(y, {}, Graph::keep);
    CHECK_ALL(same_bits(x.grad(), dx), same_bits(w.grad(), dw));
    backward(y);
    const Array<double> twice = x.grad().clone();
    check_close(twice, Array<double>(2.0 * dx), 1e-14);
    CHECK_THROWS_WITH(backward(y), contains("sum", "Graph::keep"));
    CHECK(same_bits(x.grad(), twice));
    const Tensor<double> two = leaf({2});  // a graph released by one result cannot serve another
    const Tensor<double> shared = mul(two, two), a = scale(shared, 2), b = scale(shared, 3);
    backward(a);
    CHECK_THROWS_WITH(backward(b), contains("'mul'"));
    check_equal(two.grad(), {8});
    const Tensor<double> small = leaf({1, 2});
    CHECK_THROWS_WITH(backward(mul(small, small)), contains("cotangent", "(2,)"));
    CHECK_THROWS_WITH(backward(mul(small, small), of<double>({1, 2, 3})), contains("(3,)", "(2,)"));
    Array<double> dy = of<double>({5, 7});
    backward(small, dy);  // a leaf takes the cotangent over, but not the caller's array
    dy.data()[0] = 0;
    check_equal(small.grad(), {5, 7});
    const Tensor<double> inner = affine(small, 1, 0);
    const Tensor<double> bad = record("bad", sum(inner).value(), inputs(inner),
                                      [](const Array<double>& g, Gradients<double>& grads) { grads.add(0, g); });
    CHECK_THROWS_WITH(backward(bad), contains("'affine'", "() for (2,)"));
}

TEST_CASE("tensor: writing to a value that backward needs is an error, and an op saves no other", "[engine]") {
    Tensor<double> x = leaf({1, 2});
    const Tensor<double> y = sum(mul(x, x));
    x.value_in_place().data()[0] = 5;
    CHECK_THROWS_WITH(backward(y), contains("mul:", "in place", "(2,)"));

    Tensor<double> whole = leaf({1, 2, 3, 4});  // through a view of it
    const Tensor<double> z = sum(exp(whole));
    Tensor<double> e = exp(whole);
    const Tensor<double> s = sum(log(slice(e, 0, 0, 2)));
    e.value_in_place().data()[3] = 1;
    CHECK_THROWS_WITH(backward(s), contains("log:"));
    backward(z);  // another buffer
    CHECK(whole.grad().data()[0] == Approx(std::exp(1.0)));

    Tensor<double> free = leaf({1, 2});  // add needs neither value
    const Tensor<double> t = sum(add(free, free));
    free.value_in_place().data()[0] = 5;
    backward(t);
    check_equal(free.grad(), {2, 2});
    const Tensor<double> two = Tensor<double>::full({2}, 2);
    Tensor<double> base = leaf({1, 2}), quotient = div(base, two), power = pow(base, two);
    const Tensor<double> loss = sum(add(quotient, power));
    quotient.value_in_place() *= 3;  // of the divisor's and the exponent's gradient alone
    power.value_in_place() *= 3;
    backward(loss);
    check_equal(base.grad(), {2.5, 4.5});

    Tensor<double> divisor = leaf({1, 2}), needed = div(two, divisor);
    const Tensor<double> other = sum(needed);
    needed.value_in_place() *= 3;
    CHECK_THROWS_WITH(backward(other), contains("div:"));
}

TEST_CASE("tensor: an update in place reaches the tensor, and must fit it", "[engine]") {
    Tensor<double> p(of<double>({1, 2}, {1, 2}), true);
    const Tensor<double> alias = p, detached = p.detach();
    p.value_in_place() -= Array<double>({1, 2}, 0.5);
    check_equal(p.value(), {0.5, 1.5});
    p.value_in_place() -= 0.5;
    check_equal(p.value(), {0, 1});
    backward(sum(mul(p, p)));
    p.value_in_place() -= 0.25 * p.grad();  // a step of gradient descent
    check_equal(p.value(), {0, 0.5});
    p.value_in_place() = of<double>({2}, {7, 8});
    check_equal(p.value(), {7, 8});
    p.value_in_place().sliced(1, 1, 2) *= 2;
    check_equal(p.value(), {7, 16});
    p.value_in_place()(0, 0) = 3;
    check_equal(p.value(), {3, 16}), check_equal(alias.value(), {3, 16}), check_equal(detached.value(), {3, 16});

    Tensor<double> t = leaf({1, 2});
    CHECK_THROWS_WITH(t.value_in_place() = Array<double>({3}, 0.0), contains("(2,)", "(3,)"));
    CHECK_THROWS_AS(t.value_in_place() += Array<double>({2, 2}, 1.0), Error);
    check_equal(t.value(), {1, 2});
    CHECK(t.shape() == Shape{2});

    const Tensor<double> y = sum(mul(t, t));
    Array<double> kept = t.value_in_place();  // a handle that outlives its statement counts each write of its own
    const Tensor<double> z = sum(mul(t, t));
    CHECK_THROWS_WITH(backward(y), contains("in place"));
    kept += 1;
    CHECK_THROWS_WITH(backward(z), contains("in place"));
}

TEST_CASE("tensor: backward frees what it has used, and an exception leaves no gradients", "[engine]") {
    const auto broken = std::make_shared<bool>(true);
    Tensor<double> x = leaf({3, 4});
    const Tensor<double> square = mul(x, x), parts = add(breakable(square, broken), scale(square, 2));
    const auto halves = split(parts, 2, 0);
    const Tensor<double> y = add(mul(halves[0], halves[1]), halves[1]);
    CHECK_THROWS_WITH(backward(y, {}, Graph::keep), contains("broken"));
    for (const auto& t : {square, parts, halves[0], halves[1], y}) {
        CHECK_FALSE(t.node()->has_grad);
        CHECK_FALSE(t.node()->grad.defined());
    }
    *broken = false;
    x.zero_grad();
    backward(y);  // y = 3a 3b + 3b, a = x0^2, b = x1^2
    check_equal(x.grad(), {9 * 16 * 2 * 3, (9 * 9 + 3) * 2 * 4});
    const auto before = pool_statistics().bytes_in_use;
    {
        Tensor<double> thousand(Array<double>({1000}, 1.0), true);
        const auto with_leaf = pool_statistics().bytes_in_use;
        Tensor<double> chain = thousand;
        for (int i = 0; i < 20; ++i) chain = exp(scale(chain, 0.1));
        CHECK(pool_statistics().bytes_in_use >= with_leaf + 20 * 8000);  // one value a step is needed
        chain = sum(chain);
        backward(chain);
        thousand.zero_grad();
        CHECK(pool_statistics().bytes_in_use <= with_leaf + 8000);
    }
    CHECK(pool_statistics().bytes_in_use == before);
}

TEST_CASE("tensor: a bound parameter keeps its places", "[engine]") {
    Tensor<double> p = leaf({1, 2});
    backward(sum(p));
    Array<double> values({4}, 0.0), grads({4}, 0.0);
    p.bind(values.sliced(0, 1, 3), grads.sliced(0, 1, 3));
    check_equal(values, {0, 1, 2, 0}), check_equal(grads, {0, 1, 1, 0});
    backward(sum(mul(p, p)));
    check_equal(grads, {0, 3, 5, 0});
    p.zero_grad();
    check_equal(p.grad(), {0, 0});
    backward(linear(reshape(p, {1, 2}), reshape(p, {1, 2})));
    check_equal(grads, {0, 2, 4, 0});
    p.zero_grad();
    const Tensor<double> column(of<double>({3, 1}, {1, 1, 1}));
    backward(sum(linear(column, reshape(p, {2, 1}))));
    check_equal(grads, {0, 3, 3, 0});
    CHECK(p.grad().same_buffer(grads));
    CHECK_THROWS_WITH(p.bind(Array<double>({3}), grads), contains("bind", "(3,)"));
    Tensor<double> made = mul(p, p);
    CHECK_THROWS_WITH(made.bind(of<double>({1, 2}), of<double>({1, 2})), contains("parameter"));
}
