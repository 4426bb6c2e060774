// retain_grad and on_grad: when they see the gradient of an intermediate, and how they may change it.

TEST_CASE("retain_grad: gradients of intermediates and views are kept, add up, and stay", "[engine]") {
    auto x = Tensor<double>::from({1, 2}, true);
    const auto run = [&](bool retain) {
        const Tensor<double> h = x * x;
        if (retain) h.retain_grad();
        sum(3 * h + h * h).backward();
        return h;
    };
    Tensor<double> h = run(true);  // d/dh = 3 + 2 h
    check_equal(h.grad(), {5, 11}), check_equal(x.grad(), {2 * 1 * 5, 2 * 2 * 11});
    h.zero_grad();
    check_equal(h.grad(), {0, 0});
    CHECK_THROWS_WITH(run(false).grad(), contains("'mul'", "retain_grad()"));

    const Tensor<double> unused = x * 2;
    unused.retain_grad();
    check_equal(unused.grad(), {0, 0});
    x.retain_grad();  // a leaf's is kept anyway
    x.zero_grad();
    sum(x).backward();
    check_equal(x.grad(), {1, 1});
    CHECK_THROWS_WITH(Tensor<double>::from(1).retain_grad(), contains("retain_grad: the tensor does not"));
    const auto z = Tensor<double>::from({1, 2}, true);
    const Tensor<double> square = z * z, y = sum(square * square);
    square.retain_grad(), y.retain_grad();  // runs of a kept graph add up, and what was handed out stays as it is
    y.backward({}, Graph::keep);
    const Array<double> first = square.grad();
    check_equal(first, {2, 8}), check_equal(y.grad(), {1});
    y.backward();
    check_equal(square.grad(), {4, 16}), check_equal(first, {2, 8}), check_equal(y.grad(), {2});
    const auto w = Tensor<double>::from({{1, 2}, {3, 4}}, true);
    const auto parts = split(2 * w, 2, 1);
    const Tensor<double> turned = transpose(reshape(parts[0], {1, 2}), 0, 1);
    for (const auto& t : {parts[0], parts[1], turned}) t.retain_grad();
    sum(turned * turned).backward();
    check_equal(turned.grad(), {4, 12}), check_equal(parts[0].grad(), {4, 12}), check_equal(parts[1].grad(), {0, 0});
    check_equal(w.grad(), {8, 0, 24, 0});
}

TEST_CASE("on_grad: called once, with the whole gradient, before it flows on", "[engine]") {
    const auto x = Tensor<double>::from({1, 2}, true);
    const Tensor<double> h = x * x;
    int calls = 0;
    h.on_grad([&](const Array<double>& dy) {
        ++calls;
        check_equal(dy, {5, 11});
        check_equal(x.grad(), {0, 0});  // nothing has come there yet
    });
    sum(3 * h + h * h).backward();
    CHECK(calls == 1);
    check_equal(x.grad(), {10, 44});

    const Tensor<double> y = sum(x * x), elsewhere = x * 2;
    y.on_grad([&](const Array<double>& dy) { calls += 10, check_equal(dy, {1}); });
    elsewhere.on_grad([&](const Array<double>&) { calls += 100; });
    y.backward();
    CHECK(calls == 11);
    CHECK_THROWS_WITH(Tensor<double>::from(1).on_grad([](auto&) {}), contains("on_grad: the tensor does not"));
}

TEST_CASE("on_grad: the gradient that a hook returns flows on, those that hooks hold do not change", "[engine]") {
    const auto x = Tensor<double>::from({1, 2}, true), z = Tensor<double>::from({3, 4}, true);
    const Tensor<double> a = x * 1, b = z * 1;
    a.on_grad([](Array<double>& dy) { dy *= 10; });
    a.on_grad([](Array<double>& dy) { dy = dy + 1; });  // after the first
    a.retain_grad();
    Array<double> dy = of<double>({1, 2});
    (a + b).backward(dy);  // add gives one array to both
    check_equal(a.grad(), {11, 21}), check_equal(x.grad(), {11, 21}), check_equal(z.grad(), {1, 2});
    check_equal(dy, {1, 2});

    const auto w = Tensor<double>::from({{1, 2}, {3, 4}}, true);
    const auto parts = split(w, 2, 0);  // gradients that lie inside another
    parts[1].on_grad([](Array<double>& g) { g *= -1; });
    sum(concatenate<double>(parts, 0)).backward();
    check_equal(w.grad(), {1, 1, -1, -1});

    const Tensor<double> bad = x * 1;
    bad.on_grad([](Array<double>& g) { g = Array<double>({3}, 0.0); });
    CHECK_THROWS_WITH(sum(bad).backward(), contains("on_grad", "(2,), got (3,)"));
    const auto held = Tensor<double>::from({0.5, -0.5}, true);
    std::vector<Array<double>> seen;
    const auto watched = [&](const Tensor<double>& t) {
        t.on_grad([&seen](Array<double>& g) { seen.push_back(g); }), t.on_grad([](Array<double>& g) { g *= 2; });
        return t;
    };
    Tensor<double> y = watched(held * 1);
    y = watched(tanh(y));  // whose backward would work in dy's memory
    y = watched(reshape(y, {2, 1}));
    sum(y).backward();
    REQUIRE(seen.size() == 3);
    check_equal(seen[0], {1, 1}), check_equal(seen[1], {2, 2});
    const double slope = 1 - std::tanh(0.5) * std::tanh(0.5);
    check_close(seen[2], of<double>({4 * slope, 4 * slope}), 1e-15);
    check_close(held.grad(), of<double>({8 * slope, 8 * slope}), 1e-15);
}

TEST_CASE("on_grad: of a leaf, when all of its gradient is there", "[engine]") {
    auto w = Tensor<double>::from({1, 2}, true);
    std::vector<double> seen;
    w.on_grad([&](Array<double>& dy) { seen.push_back(dy(0)), dy *= 0.5; });
    sum(w * 2 + w * w).backward();  // 2 + 2 w, in two parts
    check_equal(w.grad(), {2, 3});
    sum(w).backward();  // adds 1, and the hook sees the sum
    check_equal(w.grad(), {1.5, 2});
    w.backward(of<double>({1.5, 1}));  // a leaf by itself
    CHECK(seen == std::vector<double>{4, 3, 3});
    check_equal(w.grad(), {1.5, 1.5});

    Tensor<double> p = Tensor<double>::from({1, 2}, true);  // with a place of its own
    Array<double> values({2}), grads({2}, 0.0);
    p.bind(values, grads);
    p.on_grad([](Array<double>& dy) { dy = 3 * dy; });
    sum(p * p).backward();
    check_equal(grads, {6, 12});
}

TEST_CASE("on_grad_ready: for each leaf at once, after the hooks, whose exceptions leave nothing", "[engine]") {
    auto a = Tensor<double>::from({1, 2}, true), b = Tensor<double>::from({3, 4}, true);
    std::vector<Array<double>> seen;
    a.on_grad_ready([&] { seen.push_back(a.grad()); });
    b.on_grad_ready([&] {
        check_equal(a.grad(), {0, 0});  // whose op is still to come
        seen.push_back(b.grad());
    });
    b.on_grad([](Array<double>& dy) { dy *= 10; });
    sum((a * 2 + a) * b + b).backward();
    REQUIRE(seen.size() == 2);
    check_equal(seen[0], {40, 70}), check_equal(seen[1], {9, 12});
    CHECK(seen[1].data() == a.grad().data());
    const auto x = Tensor<double>::from({1, 2}, true);
    const Tensor<double> h = x * x;
    h.on_grad([](Array<double>&) { throw Error("broken"); });
    const Tensor<double> y = sum(h + h);
    CHECK_THROWS_WITH(y.backward(), contains("broken"));
    CHECK_FALSE(h.node()->has_grad);
    check_equal(x.grad(), {0, 0});
}

TEST_CASE("hooks: a node that nobody watches has none, and threads may watch a leaf that they share", "[engine]") {
    auto w = Tensor<double>::from({1, 2}, true);
    CHECK((w * w).node()->watch == nullptr);
    std::atomic<int> calls = 0;
    w.on_grad([&calls](Array<double>&) { ++calls; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&w] {
            omp_set_num_threads(1);
            for (int i = 0; i < 50; ++i) sum(w * 2 + w).backward();
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(calls == 200);
    check_equal(w.grad(), {600, 600});
}
