// AdamW against its definition and against torch.optim.AdamW, and the clipping of gradients.
#include "train/optimizers/adamw.h"

#include "tests/train/parameters.h"

// The starts of a matrix and a vector, of ones, for Named.
template <class T>
static std::vector<std::pair<std::string, Array<T>>> matrix_and_vector(const Shape& matrix, const Shape& vector) {
    return {{"matrix", Array<T>(matrix, T{1})}, {"vector", Array<T>(vector, T{1})}};
}

TEMPLATE_TEST_CASE("PyTorch agrees: 20 steps of AdamW with clipping and a schedule", "[train]", float, double) {
    const double tolerance = std::is_same_v<T, double> ? 1e-13 : 1e-5;
    const auto numbers = reference("nn.json")["AdamW"];
    Named<T> p({{"matrix", array_from<T>(numbers["matrix"])}, {"vector", array_from<T>(numbers["vector"])}});
    nn::FlatParameters<T> flat(p);
    AdamW<T> adamw(flat, {0.9, 0.99, 1e-8, 0.1});
    REQUIRE(numbers["steps"].size() == 20);
    int clipped = 0;
    for (const auto& step : numbers["steps"]) {
        set_gradient(flat, "matrix", array_from<T>(step["d_matrix"]));
        set_gradient(flat, "vector", array_from<T>(step["d_vector"]));
        const double norm = train::gradient_norm(flat.gradients());
        CHECK(norm == Approx(step["norm"].get<double>()).epsilon(tolerance));
        const double scale = train::clip_scale(norm, numbers["clip"].get<double>());
        clipped += scale < 1;
        adamw.step(step["rate"].get<double>(), scale);
        check_close(p["matrix"], array_from<double>(step["matrix"]), tolerance, "matrix");
        check_close(p["vector"], array_from<double>(step["vector"]), tolerance, "vector");
    }
    CHECK_ALL(clipped > 3, clipped < 17, adamw.updates == 20);
}

TEST_CASE("adamw: cautious decay, rates of roles, and the same bits with any number of threads", "[train]") {
    Named<double> p(matrix_and_vector<double>({1, 2}, {1}));
    nn::FlatParameters<double> flat(p);
    AdamW<double> adamw(flat, {.eps = 0, .weight_decay = 0.5, .cautious = true});
    set_gradient(flat, "matrix", of<double>({3, -3}).reshaped({1, 2}));
    adamw.step(0.01);  // the first update is as long as the rate
    CHECK(p["matrix"].data()[0] == Approx(1 - 0.005 - 0.01).epsilon(1e-14));
    CHECK(p["matrix"].data()[1] == Approx(1 + 0.01).epsilon(1e-14));
    const std::vector<std::pair<std::string, Array<double>>> starts = {{"wte.weight", Array<double>({2, 2}, 1.0)},
                                                                       {"lm_head.weight", Array<double>({2, 2}, 1.0)},
                                                                       {"mlp.c_fc.weight", Array<double>({2, 2}, 1.0)},
                                                                       {"ln_f.weight", Array<double>({2}, 1.0)}};
    Named<double> module(starts, {{"wte.weight", {nn::Role::embedding}}, {"lm_head.weight", {nn::Role::head}}});
    nn::FlatParameters<double> roles(module);
    AdamW<double> by_role(roles, {0.9, 0.99, 0, 0.5, false, {1, 2, 3, 4}});
    for (const auto& [name, start] : starts) set_gradient(roles, name, start);
    by_role.step(0.01);  // the first update is as long as the rate
    CHECK(module["wte.weight"].data()[0] == Approx(1 * (1 - 0.005) - 0.01).epsilon(1e-14));
    CHECK(module["lm_head.weight"].data()[3] == Approx(1 * (1 - 0.01) - 0.02).epsilon(1e-14));
    CHECK(module["mlp.c_fc.weight"].data()[0] == Approx(1 * (1 - 0.015) - 0.03).epsilon(1e-14));
    CHECK(module["ln_f.weight"].data()[1] == Approx(1 - 0.04).epsilon(1e-14));
    check_same_with_any_threads("adamw", [] {
        Named<float> parameters(matrix_and_vector<float>({300, 301}, {40'003}));
        nn::FlatParameters<float> large(parameters);
        AdamW<float> optimizer(large, {});
        for (std::uint64_t i = 0; i < 2; ++i) {
            set_gradient(large, "matrix", random_array<float>({300, 301}, i));
            set_gradient(large, "vector", random_array<float>({40'003}, 9 + i));
            optimizer.step(0.01, 0.5);
        }
        return std::vector<ConstArray<float>>{parameters["matrix"], parameters["vector"], optimizer.m, optimizer.v};
    });
}

TEST_CASE("clipping: the norm of all gradients, and torch's scale", "[train]") {
    CHECK(train::gradient_norm(of<double>({3, -4})) == 5);
    CHECK(train::gradient_norm(of<float>(std::vector<double>(17, 0.0))) == 0);
    const Array<float> g = random_array<float>({100'003}, 4);
    long double squares = 0;
    for (std::size_t i = 0; i < g.size(); ++i) squares += static_cast<long double>(g.data()[i]) * g.data()[i];
    CHECK(train::gradient_norm(g) == Approx(static_cast<double>(std::sqrt(squares))).epsilon(1e-6));
    for (const double bad : {std::nan(""), kInfinity, -kInfinity})
        for (const std::size_t at : {0, 4096, 100'002}) {
            Array<float> broken = g.clone();
            broken.data()[at] = static_cast<float>(bad);
            CHECK_FALSE(std::isfinite(train::gradient_norm(broken)));
        }
    CHECK(train::clip_scale(4, 1) == 1 / (4 + 1e-6));  // the scale is torch's
    CHECK_ALL(train::clip_scale(0.5, 1) == 1, train::clip_scale(1, 1) == 1 / (1 + 1e-6), train::clip_scale(0, 1) == 1);
    CHECK(train::clip_scale(1e30, 0) == 1);  // no limit
}
