// The layers: outputs and gradients against PyTorch, errors, and dropout only in training.
#include "nn/embedding.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "nn/positions.h"

// Loads the parameters of `layer` from the case, and compares its output for x and all gradients.
template <class T, class Layer>
static void compare_with_pytorch(const nlohmann::json& numbers, Layer layer) {
    const double tolerance = std::is_same_v<T, double> ? 1e-12 : 1e-5;
    for (auto& [name, p] : layer.parameters()) p.value_in_place() = array_from<T>(numbers.at(name));
    const Tensor<T> x(array_from<T>(numbers.at("x")), true), y = layer.forward(x);
    check_close(y.value(), array_from<double>(numbers.at("y")), tolerance, "output");
    backward(y, array_from<T>(numbers.at("dy")));
    auto all = layer.parameters();
    all.emplace_back("x", x);
    for (const auto& [name, p] : all)
        check_close(p.grad(), array_from<double>(numbers.at("d_" + name)), tolerance, "gradient of " + name);
}

TEMPLATE_TEST_CASE("PyTorch agrees: Linear, LayerNorm, RMSNorm, MLP", "[nn]", float, double) {
    Generator random{1, 0};
    const auto all = reference("nn.json");
    compare_with_pytorch<T>(all["Linear"], nn::Linear<T>(random, 5, 4));
    compare_with_pytorch<T>(all["LayerNorm"], nn::LayerNorm<T>(6));
    compare_with_pytorch<T>(all["RMSNorm"], nn::RMSNorm<T>(6));
    compare_with_pytorch<T>(all["MLP"], nn::MLP<T>(random, 4, 7, 0.0));
}

TEST_CASE("layers: sizes of 0, ids, widths, positions and probabilities that cannot be are refused", "[nn]") {
    Generator random{1, 0};  // refuses ids outside the table and sizes of 0
    CHECK_THROWS_WITH(nn::Linear<float>(random, 0, 2), contains("Linear: expected sizes above 0"));
    CHECK_THROWS_WITH(nn::Linear<float>(random, 2, 0), contains("2 in and 0 out"));
    const nn::Linear<float> linear(random, 3, 2);
    CHECK_THROWS_WITH(linear.forward(Tensor<float>(Array<float>({5, 4}, 0.0f))), contains("(5, 4)", "(2, 3)"));
    const nn::Embedding<float> table(random, 3, 2);
    CHECK_THROWS_WITH(table.forward(of<std::int32_t>({3})), contains("embedding", "3"));
    CHECK_THROWS_WITH(table.forward(of<std::int32_t>({0, -1})), contains("-1"));
    CHECK_THROWS_WITH(nn::Embedding<float>(random, 0, 2), contains("Embedding: expected sizes above 0"));
    for (const double p : {-0.1, 1.0, 1.5, std::nan("")})
        CHECK_THROWS_WITH(nn::Dropout<float>(p), contains("Dropout: expected a probability"));
    CHECK_THROWS_WITH(nn::MLP<float>(random, 2, 2, 1.0), contains("Dropout"));
    nn::LearnedPositions<double> positions(random, 4, 2);  // refuse odd widths, and what lies beyond them
    const Tensor<double> x(Array<double>({2, 2, 2}, 0.0));
    CHECK_THROWS_WITH(positions.forward(x, 3), contains("at most 4 positions", "from position 3"));
    CHECK_THROWS_WITH(positions.forward(Tensor<double>(Array<double>({2, 3}, 0.0))), contains("(2, 3)"));
    CHECK_THROWS_WITH(positions.forward(Tensor<double>(Array<double>({2}, 0.0))), contains("LearnedPositions"));
    CHECK_THROWS_WITH(nn::sinusoidal_positions<float>(4, 5), contains("an even width", "5"));
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
    CHECK_THROWS_WITH(drop.forward(x), contains("Dropout: training with dropout needs random numbers"));
    drop.eval();
    const std::uint64_t stream = random.next_stream;
    CHECK_ALL(same_bits(drop.forward(x, &random).value(), x.value()), random.next_stream == stream);
    CHECK(same_bits(drop.forward(x).value(), x.value()));
    CHECK(same_bits(nn::Dropout<float>(0).forward(x).value(), x.value()));
}
