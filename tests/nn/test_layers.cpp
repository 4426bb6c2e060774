// The layers: known values, what their parameters do, and what they refuse.
#include "engine/ops.h"
#include "nn/embedding.h"
#include "nn/init.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "nn/positions.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

template <class T>
void set(Tensor<T>& p, const std::vector<double>& values) {
    const Array<T> a = of<T>(p.shape(), values);
    p.value_in_place() = a;
}

IdArray ids(const Shape& shape, const std::vector<std::int32_t>& values) {
    IdArray a(shape);
    REQUIRE(a.size() == values.size());
    std::copy(values.begin(), values.end(), a.data());
    return a;
}

}  // namespace

TEST_CASE("Linear: x W^T + b, with any number of axes in front", "[nn]") {
    Generator random{1, 0};
    nn::Linear<double> linear(random, 3, 2);
    set(linear.weight, {1, 2, 3, -1, 0, 1});
    set(linear.bias, {10, 20});
    check_equal(linear.forward(Tensor<double>(of<double>({1, 1, 2}))).value(), {19, 21});
    const Tensor<double> x(of<double>({2, 1, 3}, {1, 0, 0, 0, 0, 1}));
    const ConstArray<double> y = linear.forward(x).value();
    CHECK(to_string(y.shape()) == "(2, 1, 2)");
    check_equal(y, {11, 19, 13, 21});
    nn::Linear<double> without(random, 3, 2, false);
    set(without.weight, {1, 2, 3, -1, 0, 1});
    CHECK_FALSE(without.bias.defined());
    check_equal(without.forward(x).value(), {1, -1, 3, 1});
}

TEST_CASE("Linear: refuses sizes of 0 and inputs of another width", "[nn]") {
    Generator random{1, 0};
    CHECK_THROWS_WITH(nn::Linear<float>(random, 0, 2), ContainsSubstring("Linear: sizes above 0"));
    CHECK_THROWS_WITH(nn::Linear<float>(random, 2, 0), ContainsSubstring("2 in and 0 out"));
    const nn::Linear<float> linear(random, 3, 2);
    CHECK_THROWS_WITH(linear.forward(Tensor<float>(Array<float>({5, 4}, 0.0f))),
                      ContainsSubstring("(5, 4)") && ContainsSubstring("(2, 3)"));
}

TEST_CASE("Embedding: rows by id", "[nn]") {
    Generator random{1, 0};
    nn::Embedding<double> table(random, 3, 2);
    set(table.weight, {1, 2, 3, 4, 5, 6});
    const ConstArray<double> y = table.forward(ids({2, 2}, {2, 0, 2, 1})).value();
    CHECK(to_string(y.shape()) == "(2, 2, 2)");
    check_equal(y, {5, 6, 1, 2, 5, 6, 3, 4});
    backward(table.forward(ids({3}, {2, 0, 2})), of<double>({3, 2}, {1, 2, 10, 20, 100, 200}));
    check_equal(table.weight.grad(), {10, 20, 0, 0, 101, 202});
}

TEST_CASE("Embedding: refuses ids outside the table and sizes of 0", "[nn]") {
    Generator random{1, 0};
    const nn::Embedding<float> table(random, 3, 2);
    CHECK_THROWS_WITH(table.forward(ids({1}, {3})), ContainsSubstring("embedding") && ContainsSubstring("3"));
    CHECK_THROWS_WITH(table.forward(ids({2}, {0, -1})), ContainsSubstring("-1"));
    CHECK_THROWS_WITH(nn::Embedding<float>(random, 0, 2), ContainsSubstring("Embedding: sizes above 0"));
}

TEST_CASE("LayerNorm: mean 0 and deviation 1 by the biased variance, then gain and bias", "[nn]") {
    nn::LayerNorm<double> norm(4, true, 0.0);
    const Tensor<double> x(of<double>({2, 4}, {1, 2, 3, 4, 7, 7, 9, 9}));
    const double a = 3 / std::sqrt(5.0), b = 1 / std::sqrt(5.0);
    check_close(norm.forward(x).value(), of<double>({2, 4}, {-a, -b, b, a, -1, -1, 1, 1}), 1e-14);
    set(norm.weight, {2, 1, 1, 0});
    set(norm.bias, {0, 0, 5, 6});
    check_close(norm.forward(x).value(), of<double>({2, 4}, {-2 * a, -b, b + 5, 6, -2, -1, 6, 6}), 1e-14);
    // epsilon is inside the root: variance 1 and epsilon 3 halve
    check_close(nn::LayerNorm<double>(2, false, 3.0).forward(Tensor<double>(of<double>({1, 3}))).value(),
                of<double>({-0.5, 0.5}), 1e-15);
    CHECK(nn::LayerNorm<double>(2).eps == 1e-5);
}

TEST_CASE("RMSNorm: root mean square 1, then the gain", "[nn]") {
    nn::RMSNorm<double> norm(2, 0.0);
    const Tensor<double> x(of<double>({1, 7}));
    check_close(norm.forward(x).value(), of<double>({0.2, 1.4}), 1e-15);
    set(norm.weight, {10, -1});
    check_close(norm.forward(x).value(), of<double>({2, -1.4}), 1e-15);
    check_close(nn::RMSNorm<double>(2, 75.0).forward(x).value(), of<double>({0.1, 0.7}), 1e-15);
}

TEST_CASE("norms: refuse inputs of another width", "[nn]") {
    const Tensor<float> x(Array<float>({2, 3}, 1.0f));
    CHECK_THROWS_WITH(nn::LayerNorm<float>(4).forward(x), ContainsSubstring("layer_norm"));
    CHECK_THROWS_WITH(nn::RMSNorm<float>(4).forward(x), ContainsSubstring("rms_norm"));
}

TEST_CASE("MLP: gelu between two linear layers", "[nn]") {
    Generator random{1, 0};
    nn::MLP<double> mlp(random, 1, 2, 0.0);
    set(mlp.c_fc.weight, {1, -1});
    set(mlp.c_fc.bias, {0, 0.5});
    set(mlp.c_proj.weight, {1, 10});
    set(mlp.c_proj.bias, {100});
    // gelu(1) = 0.8411919906082768 and gelu(-0.5) = -0.15428599017485606
    check_close(mlp.forward(Tensor<double>(of<double>({1}))).value(),
                of<double>({100 + 0.8411919906082768 - 1.5428599017485606}), 1e-15);
    CHECK(nn::MLP<double>(random, 4, 16, 0.0).parameter_count() == 2 * 4 * 16 + 16 + 4);
    CHECK_THROWS_WITH(mlp.forward(Tensor<double>(Array<double>({1, 2}, 0.0))), ContainsSubstring("(1, 2)"));
}

TEST_CASE("Dropout: keeps 1 - p of the elements, scaled by 1 / (1 - p)", "[nn]") {
    for (const double p : {0.1, 0.5, 0.9}) {
        Generator random{1, 0};
        const nn::Dropout<double> drop(p);
        const std::size_t n = 200'000;
        const ConstArray<double> y = drop.forward(Tensor<double>(Array<double>({n}, 3.0)), &random).value();
        std::size_t kept = 0, wrong = 0;
        for (std::size_t i = 0; i < n; ++i) {
            kept += y.data()[i] != 0;
            wrong += y.data()[i] != 0 && std::abs(y.data()[i] - 3.0 / (1 - p)) > 1e-12;
        }
        CHECK(wrong == 0);
        INFO("p = " << p);  // five standard deviations
        CHECK(std::abs(static_cast<double>(kept) / n - (1 - p)) < 5 * std::sqrt(p * (1 - p) / n));
    }
}

TEST_CASE("Dropout: the same key repeats, other keys differ, evaluation and p = 0 change nothing", "[nn]") {
    nn::Dropout<float> drop(0.5);
    const Tensor<float> x(Array<float>({1000}, 1.0f), true);
    Generator random{1, 7};
    const ConstArray<float> first = drop.forward(x, &random).value(), second = drop.forward(x, &random).value();
    CHECK_FALSE(same_bits(first, second));
    random = {1, 7};
    CHECK(same_bits(drop.forward(x, &random).value(), first));
    random = {2, 7};
    CHECK_FALSE(same_bits(drop.forward(x, &random).value(), first));
    // gradients pass where values do
    random = {1, 7};
    backward(drop.forward(x, &random), Array<float>({1000}, 1.0f));
    CHECK(same_bits(x.grad(), first));
    CHECK_THROWS_WITH(drop.forward(x), ContainsSubstring("Dropout: training with dropout needs random numbers"));
    drop.eval();
    const std::uint64_t stream = random.next_stream;
    CHECK(same_bits(drop.forward(x, &random).value(), x.value()));
    CHECK(random.next_stream == stream);
    CHECK(same_bits(drop.forward(x).value(), x.value()));
    CHECK(same_bits(nn::Dropout<float>(0).forward(x).value(), x.value()));
}

TEST_CASE("Dropout: refuses probabilities below 0 and from 1 on", "[nn]") {
    Generator random{1, 0};
    for (const double p : {-0.1, 1.0, 1.5, std::nan("")})
        CHECK_THROWS_WITH(nn::Dropout<float>(p), ContainsSubstring("Dropout: a probability"));
    CHECK_THROWS_WITH(nn::MLP<float>(random, 2, 2, 1.0), ContainsSubstring("Dropout"));
}

TEST_CASE("sinusoidal positions: known values, and position p + k is position p turned by an angle of k alone",
          "[nn]") {
    const std::size_t length = 40, width = 12;
    const Array<double> pe = nn::sinusoidal_positions<double>(length, width);
    const auto at = [&](std::size_t p, std::size_t i) { return pe.data()[p * width + i]; };
    CHECK(to_string(pe.shape()) == "(40, 12)");
    CHECK(at(3, 0) == Approx(std::sin(3.0)).epsilon(1e-14));
    CHECK(at(3, 1) == Approx(std::cos(3.0)).epsilon(1e-14));
    CHECK(at(7, 4) == Approx(std::sin(7 / std::pow(10000.0, 4.0 / 12))).epsilon(1e-13));
    for (std::size_t pair = 0; pair < width; pair += 2) {
        for (const std::size_t k : {1, 5, 17}) {
            const double angle = static_cast<double>(k) / std::pow(10000.0, static_cast<double>(pair) / width);
            double worst = 0;
            for (std::size_t p = 0; p + k < length; ++p) {
                const double s = at(p, pair), c = at(p, pair + 1);
                worst = std::max({worst, std::abs(at(p + k, pair) - (s * std::cos(angle) + c * std::sin(angle))),
                                  std::abs(at(p + k, pair + 1) - (c * std::cos(angle) - s * std::sin(angle)))});
            }
            INFO("pair " << pair << ", k " << k);
            CHECK(worst < 1e-13);
        }
    }
    CHECK_THROWS_WITH(nn::sinusoidal_positions<float>(4, 5),
                      ContainsSubstring("an even width") && ContainsSubstring("5"));
}

TEST_CASE("learned positions: are added, from any start, and to every row", "[nn]") {
    Generator random{1, 0};
    nn::LearnedPositions<double> positions(random, 4, 2);
    set(positions.weight, {1, 2, 3, 4, 5, 6, 7, 8});
    const Tensor<double> x(of<double>({2, 2, 2}, {0, 0, 0, 0, 10, 10, 10, 10}));
    check_equal(positions.forward(x).value(), {1, 2, 3, 4, 11, 12, 13, 14});
    check_equal(positions.forward(x, 2).value(), {5, 6, 7, 8, 15, 16, 17, 18});
    backward(positions.forward(x, 1), of<double>({2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40}));
    check_equal(positions.weight.grad(), {0, 0, 11, 22, 33, 44, 0, 0});
    CHECK_THROWS_WITH(positions.forward(x, 3),
                      ContainsSubstring("at most 4 positions") && ContainsSubstring("from position 3"));
    CHECK_THROWS_WITH(positions.forward(Tensor<double>(Array<double>({2, 3}, 0.0))), ContainsSubstring("(2, 3)"));
    CHECK_THROWS_WITH(positions.forward(Tensor<double>(Array<double>({2}, 0.0))),
                      ContainsSubstring("LearnedPositions"));
}
