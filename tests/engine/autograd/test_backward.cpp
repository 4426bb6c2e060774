// backward: threads that share leaves, graphs that run in parts, and gradients that an op must not return.
#include "engine/autograd/backward.h"

// Runs f on each of `threads` threads, with OpenMP loops only on that thread.
template <class F>
static void on_threads(std::size_t threads, const F& f) {
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t)
        all.emplace_back([&f, t] {
            omp_set_num_threads(1);
            f(t);
        });
    for (std::thread& thread : all) thread.join();
}

TEST_CASE("backward: threads that share leaves, with places of their own or not, lose no gradient", "[engine]") {
    // Whole numbers, so that sums are exact in any order. Gradients come in three ways: returned (mul), written in
    // place (matmul, linear, embedding), and added for two inputs of one op (mul of a tensor with itself).
    constexpr std::size_t kThreads = 4;
    constexpr int kRuns = 60;
    const Array<double> whole = of<double>({2, 3}, {1, 2, 3, 4, 5, 6});
    Tensor<double> w(Array<double>({3, 3}, 2.0), true), b(Array<double>({3}, 1.0), true), v(whole.clone(), true);
    Tensor<double> table(Array<double>({4, 3}, 1.0), true);
    const auto step = [&](std::size_t t) {
        const Tensor<double> x(whole.clone());
        const Tensor<double> rows = embedding(IdArray({2}, static_cast<std::int32_t>(t)), table);
        backward(sum(linear(x + rows, w, b)) + sum(mul(v, v)) + sum(matmul(v, w)) + sum(mul(b, b)));
    };
    for (const std::size_t t : {0, 1, 2, 3}) step(t);
    std::vector<Array<double>> once;
    for (Tensor<double>* leaf : {&w, &b, &v, &table}) {
        once.push_back(leaf->grad().clone());
        leaf->zero_grad();
    }
    on_threads(kThreads, [&](std::size_t t) {
        for (int i = 0; i < kRuns; ++i) step(t);
    });
    std::size_t i = 0;
    for (const Tensor<double>* leaf : {&w, &b, &v, &table})
        check_equal(Array<double>(leaf->grad() - kRuns * 1.0 * once[i++]), std::vector<double>(leaf->size(), 0.0));
    Tensor<float> p(Array<float>({64, 64}, 1.0f), true);  // a parameter with places of its own
    Array<float> values({64, 64}), gradients({64, 64}, 0.0f);
    p.bind(values, gradients);
    const Tensor<float> x(Array<float>({8, 64}, 1.0f));
    on_threads(4, [&](std::size_t) {
        for (int run = 0; run < 50; ++run) backward(sum(linear(x, p)));
    });
    check_equal(gradients, std::vector<double>(64 * 64, 4 * 50 * 8));
    CHECK(p.grad().same_buffer(gradients));
}

TEST_CASE("backward: parts of one split run one after the other, released views hold no values", "[engine]") {
    for (const bool of_leaf : {true, false}) {
        Tensor<double> x(of<double>({1, 2, 3, 4}), true);
        const Tensor<double> base = of_leaf ? x : reshape(x, {4});
        const auto parts = split(base, 2, 0);
        backward(sum(mul(parts[0], parts[0])));
        check_equal(x.grad(), {2, 4, 0, 0});
        backward(sum(scale(parts[1], 3)));
        check_equal(x.grad(), {2, 4, 3, 3});
        backward(sum(concatenate<double>({parts[1], parts[0]}, 0)));  // and both again
        check_equal(x.grad(), {3, 5, 4, 4});
    }
    // Nodes behind the split that keep values are gone after they ran.
    Tensor<double> x(of<double>({1, 2}), true);
    const auto parts = split(exp(x), 2, 0);
    backward(parts[0], of<double>({1}));
    CHECK_THROWS_WITH(backward(parts[1], of<double>({1})), contains("'exp'"));
    Tensor<double> square(of<double>({2, 2}, {1, 2, 3, 4}), true);
    const Tensor<double> turned = transpose(square, 0, 1), row = slice(turned, 0, 0, 1);
    backward(sum(row)), backward(sum(scale(turned, 10)));
    check_equal(square.grad(), {11, 10, 11, 10});
    const auto before = pool_statistics().bytes_in_use;
    {
        const Tensor<float> large(Array<float>({1024, 1024}, 1.0f), true);
        const Tensor<float> view = reshape(gelu(large), {1024 * 1024});
        backward(sum(view));
        CHECK(pool_statistics().bytes_in_use <= before + 3 * (std::size_t{4} << 20) + (1 << 20));  // value, gradient
    }
    CHECK(pool_statistics().bytes_in_use == before);
}

TEST_CASE("backward: an op may give gradients to inputs that it has, and to no others", "[engine]") {
    const Tensor<double> x(of<double>({1, 2}), true), fixed(of<double>({3, 4}));
    const auto with = [&](auto backward_of) {
        return record("lone", ConstArray<double>(x.value()), inputs(x, fixed),
                      [=](const Array<double>& dy, Gradients<double>& grads) { backward_of(dy, grads); });
    };
    const Array<double> dy = of<double>({1, 1});
    CHECK_THROWS_WITH(backward(with([](const auto& g, auto& grads) { grads.add(5, g); }), dy),
                      contains("lone: its backward names input 5, but it has 2"));
    CHECK_THROWS_WITH(backward(with([](const auto&, auto& grads) { (void)grads.wanted(2); }), dy), contains("input 2"));
    CHECK_THROWS_WITH(
        backward(with([](const auto&, auto& grads) { grads.accumulate_into(7, [](Array<double>&, bool) {}); }), dy),
        contains("input 7"));
    CHECK_THROWS_WITH(
        backward(with([](const auto&, auto& grads) { grads.accumulate_into(1, [](Array<double>&, bool) {}); }), dy),
        contains("lone: its backward writes a gradient of input 1, which wants none"));
    CHECK_NOTHROW(backward(with([](const auto& g, auto& grads) { grads.add(1, g); }), dy));  // not wanted: dropped
    check_equal(x.grad(), {0, 0});
}

TEST_CASE("backward: mul and matmul keep an operand only for a gradient that is wanted", "[engine]") {
    const Array<float> values = random_array<float>({512, 512}, 1);
    const Tensor<float> leaf(values, true);
    const auto bytes_kept = [&](const auto& op, bool other_wanted) {
        const Tensor<float> other(values, other_wanted);
        const std::size_t before = pool_statistics().bytes_in_use;
        Tensor<float> h = leaf * 2;  // saves nothing
        const Tensor<float> y = op(h, other);
        h = {};
        return pool_statistics().bytes_in_use - before;
    };
    const std::size_t one = values.size() * sizeof(float);
    for (const auto& op : {+[](const Tensor<float>&a, const Tensor<float>&b) { return mul(a, b); },
                           +[](const Tensor<float>&a, const Tensor<float>&b) { return mul(b, a); },
                           +[](const Tensor<float>&a, const Tensor<float>&b) { return matmul(a, b); },
                           +[](const Tensor<float>&a, const Tensor<float>&b) { return matmul(b, a); }}) {
        CHECK(bytes_kept(op, true) == 2 * one);  // y, and h for the other's gradient
        CHECK(bytes_kept(op, false) == one);
    }
}
