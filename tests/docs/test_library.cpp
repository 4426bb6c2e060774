// The table of docs/library.md: this test holds each line of its right column, in order, and checks its effect.
#include "models/files/state_dict.h"
#include "nn/init.h"
#include "nn/linear.h"
#include "nn/sequential.h"
#include "train/optimizers/adamw.h"

// The text that f writes to std::cout.
template <class F>
static std::string printed(const F& f) {
    std::ostringstream text;
    std::streambuf* const terminal = std::cout.rdbuf(text.rdbuf());
    f();
    std::cout.rdbuf(terminal);
    return text.str();
}

TEST_CASE("library page: the lines beside PyTorch's", "[docs]") {
    auto x = Tensor<float>::from({{1, 2}, {3, 4}});
    auto w = Tensor<float>::full({2, 2}, 0.5, true);
    check_equal(Tensor<float>::zeros({2, 3}).value(), {0, 0, 0, 0, 0, 0});
    check_equal(Tensor<float>::arange(0, 1, 0.25).value(), {0, 0.25, 0.5, 0.75});
    const std::vector<float> v{1, 2, 3, 4};
    check_equal(Tensor<float>::from(v, {2, 2}).value(), {1, 2, 3, 4});
    Generator random{1337};
    CHECK(Tensor<float>::randn({2, 3}, random.next()).size() == 6);
    IdArray ids = xt::xarray<int>{0, 1};
    CHECK(x.shape() == Shape{2, 2});
    CHECK_ALL(x.size() == 4, x.value()(0, 1) == 2, sum(x).item() == 10);
    CHECK_THAT(printed([&] { std::cout << x; }), contains("(2, 2)"));
    CHECK_FALSE(w.detach().requires_grad());

    auto y = 2 * x + 1;
    y += x * w;
    check_equal(y.value(), {3.5, 6, 8.5, 11}), check_equal(pow(x, 2).value(), {1, 4, 9, 16});
    check_equal(matmul(x, w).value(), {1.5, 1.5, 3.5, 3.5}), check_equal(transpose(x, 0, 1).value(), {1, 3, 2, 4});
    check_equal(permute(x, {1, 0}).value(), {1, 3, 2, 4}), check_equal(reshape(x, {4, 1}).value(), {1, 2, 3, 4});
    check_equal(slice(x, 1, 0, 1).value(), {1, 3});
    check_equal(concatenate({x, w}, 1).value(), {1, 2, 0.5, 0.5, 3, 4, 0.5, 0.5});
    CHECK(stack({x, w}, 0).shape() == Shape{2, 2, 2});
    const auto halves = split(x, 2, 1);
    check_equal(halves[1].value(), {2, 4}), check_equal(mean(x, -1, true).value(), {1.5, 3.5});
    check_equal(max(x, 0).value(), {3, 4});
    check_close(exp(x).value(), of<float>({2, 2}, {2.718282, 7.389056, 20.08554, 54.59815}), 1e-6);
    check_close(softmax(x, -1).value(), of<float>({2, 2}, {0.2689414, 0.7310586, 0.2689414, 0.7310586}), 1e-6);
    check_close(gelu(x).value(), of<float>({2, 2}, {0.841192, 1.954598, 2.996363, 3.99993}), 1e-5);
    check_close(inkling::std(x, 0).value(), of<float>({2}, {1.414214, 1.414214}), 1e-6);
    check_equal(clamp(x, 2).value(), {2, 2, 3, 4}), check_equal(where(x.value() > 2, x, 0).value(), {0, 0, 3, 4});
    CHECK(argmax(x, -1)(1) == 1);
    check_equal(maximum(x, 2.5).value(), {2.5, 2.5, 3, 4});
    check_equal(fmod(x, Tensor<float>::full({}, 2)).value(), {1, 0, 1, 0});
    check_close(mish(x).value(), of<float>({2, 2}, {0.8650984, 1.943959, 2.986535, 3.997413}), 1e-6);
    check_equal(pad(x, {1, 0}).value(), {0, 1, 2, 0, 3, 4});
    check_close(norm(x, 2, 1).value(), of<float>({2}, {2.236068, 5}), 1e-6);
    check_equal(topk(x, 1).values.value(), {2, 4});
    check_equal(einsum("ij,jk->ik", x, w).value(), {1.5, 1.5, 3.5, 3.5});
    CHECK(mse_loss(x, y).item() == Approx(25.375));
    CHECK(cross_entropy(x, ids, {.label_smoothing = 0.1}).item() == Approx(0.8132617));
    CHECK(cross_entropy(x, softmax(y)).item() == Approx(0.3891202));
    check_equal(embedding(ids, x).value(), {1, 2, 3, 4});
    check_equal(pad(x, {1, 1}, Padding::reflect).value(), {2, 1, 2, 1, 4, 3, 4, 3});
    auto z = reshape(Tensor<float>::arange(16), {1, 1, 4, 4});
    check_equal(conv2d(z, reshape(x, {1, 1, 2, 2}), {}, {.stride = 2, .padding = {1, 0}}).value(),
                {4, 18, 74, 94, 38, 44});
    check_equal(max_pool2d(z, 3, {.ceil_mode = true}).value(), {10, 11, 14, 15});
    check_equal(interpolate(z, {2, 2}, Interpolation::linear).value(), {2.5, 4.5, 10.5, 12.5});
    auto loss = cross_entropy(linear(x, w), ids);
    CHECK(loss.item() == Approx(std::log(2.0)));

    auto h = x * w;
    h.retain_grad();
    h.on_grad([](Array<float>& g) { g *= 0.5f; });
    sum(h).backward();
    check_equal(h.grad(), {0.5, 0.5, 0.5, 0.5}), check_equal(w.grad(), {0.5, 1, 1.5, 2});
    CHECK_THAT(printed([&] { std::cout << w.grad(); }), contains("{{ 0.5,  1. },"));
    w.zero_grad();
    loss.backward();
    check_close(w.grad(), of<float>({2, 2}, {0.5, 0.5, -0.5, -0.5}), 1e-6);
    w.value_in_place() -= 0.1f * w.grad();
    check_close(w.value(), of<float>({2, 2}, {0.45, 0.45, 0.55, 0.55}), 1e-6);
    {
        loss = sum(pow(w, 3));
        const auto g = gradients(loss, {w}, {.create_graph = true})[0];
        check_close(gradients(sum(g), {w})[0].value(), of<float>({2, 2}, {2.7, 2.7, 3.3, 3.3}), 1e-5);
        const auto f = [](const Tensor<float>& in) { return sum(pow(in, 3)); };
        const auto u = Tensor<float>::ones({2, 2});
        check_close(sum(reshape(hessian(f, x), {4, 4}), 0).value(), of<float>({6, 12, 18, 24}), 1e-6);
        CHECK(jvp(f, x, u).item() == Approx(90));
    }
    {
        const NoGrad no_graph;
        CHECK_FALSE((x * w).requires_grad());
    }
    {
        const DetectAnomaly detect;
        CHECK_THROWS_WITH(exp(100 * x), contains("inf at (0, 0)"));
    }
    CHECK(gradient_error([](const auto& in) { return tanh(in[0]); }, {normal({2, 3}, 1)}) < 1e-6);

    nn::Sequential<float> net(nn::Linear<float>(random, 2, 8), relu<float>, nn::Linear<float>(random, 8, 2));
    CHECK(net.forward(x).shape() == Shape{2, 2});
    CHECK_THAT(net.to_string(), contains("(2): Linear(weight (2, 8), bias (2,))"));
    CHECK(net.parameter_count() == 42);
    std::vector<std::string> names;
    for (auto& [name, p] : net.parameters()) names.push_back(name);
    CHECK(names.size() == 4);
    nn::initialize(net, random, {{"*bias", nn::Initial::constant(0)}});
    check_equal(net.parameters()[3].second.value(), {0, 0});
    nn::FlatParameters<float> flat(net);
    train::AdamW<float> adamw(flat, {.weight_decay = 0});
    sum(net.forward(x)).backward();
    adamw.step(1e-3, train::clip_scale(train::gradient_norm(flat.gradients()), 1));
    check_close(net.parameters()[3].second.value(), of<float>({2}, {-1e-3, -1e-3}), 1e-4);
    flat.zero_gradients();
    net.zero_grad();
    net.eval();
    CHECK_FALSE(net.training());
    const ScratchFolder folder;
    const std::string file = folder.path("net.safetensors");
    models::save_state_dict(net, file);
    models::load_state_dict(net, file);
    net.freeze();
    CHECK_FALSE(net.forward(x).requires_grad());
}

TEST_CASE("library page: a gradient penalty", "[docs]") {
    const auto w = Tensor<double>::from({{1, 2}}, true), x = Tensor<double>::from({{3, -1}, {0.5, 1}}, true);
    const auto critic = [&](const Tensor<double>& in) { return sum(in * in * w, 1); };
    const Tensor<double> slope = gradients(sum(critic(x)), {x}, {.create_graph = true})[0];
    const Tensor<double> loss = mean(critic(x)) + 10 * mean(pow(norm(slope, 2, 1) - 1, 2));  // a gradient penalty
    loss.backward();
    const double s0 = std::sqrt(36 + 16.0), s1 = std::sqrt(1 + 16.0);  // slopes of length |2 w x|
    CHECK(loss.item() == Approx((11 + 2.25) / 2 + 5 * ((s0 - 1) * (s0 - 1) + (s1 - 1) * (s1 - 1))));
    const double first = (9 + 0.25) / 2 + 10 * ((s0 - 1) / s0 * 36 + (s1 - 1) / s1 * 1);
    CHECK(w.grad()(0, 0) == Approx(first));
    const std::string here = formats::read_file(tests_path("docs/test_library.cpp"));
    std::istringstream page(formats::read_file(tests_path("../docs/library.md")));
    std::size_t shown = 0;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) inside = line == "## Gradients of gradients";
        if (!inside || !line.starts_with("    ")) continue;
        INFO(line);
        CHECK(here.find(line) != std::string::npos);
        ++shown;
    }
    CHECK(shown == 3);
}

TEST_CASE("library page: the table shows lines of this file", "[docs]") {
    const std::string here = formats::read_file(tests_path("docs/test_library.cpp"));
    std::istringstream page(formats::read_file(tests_path("../docs/library.md")));
    std::size_t rows = 0, from = 0;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("| PyTorch |")) {
            inside = true;
        } else if (inside && !line.starts_with("|")) {
            break;
        } else if (inside && !line.starts_with("|--")) {
            const std::size_t second = line.find(" | ") + 3, begin = line.find('`', second) + 1, end = line.rfind('`');
            REQUIRE(begin < end);
            const std::string code = line.substr(begin, end - begin);
            INFO(code);
            const std::size_t at = here.find(code, from);
            REQUIRE(at != std::string::npos);
            from = at + code.size();
            ++rows;
        }
    }
    CHECK(rows >= 40);
}
