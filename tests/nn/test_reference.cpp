// Layers against PyTorch: outputs and the gradients of every input and parameter, in double and float.
#include "nn/mlp.h"
#include "nn/norm.h"
#include "tests/engine/helpers.h"
#include "tests/reference/read.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

template <class T>
inline constexpr double kTolerance = std::is_same_v<T, double> ? 1e-12 : 1e-5;

// Loads the parameters of `layer` from the case, and compares its output for x and all gradients.
template <class T, class Layer>
void compare_layer(const nlohmann::json& numbers, Layer layer) {
    for (auto& [name, p] : layer.parameters()) p.value_in_place() = array_from<T>(numbers.at(name));
    const Tensor<T> x(array_from<T>(numbers.at("x")), true), y = layer.forward(x);
    check_close(y.value(), array_from<double>(numbers.at("y")), kTolerance<T>, "output");
    backward(y, array_from<T>(numbers.at("dy")));
    auto all = layer.parameters();
    all.emplace_back("x", x);
    for (const auto& [name, p] : all)
        check_close(p.grad(), array_from<double>(numbers.at("d_" + name)), kTolerance<T>, "gradient of " + name);
}

}  // namespace

TEMPLATE_TEST_CASE("PyTorch agrees: Linear, LayerNorm, RMSNorm, MLP", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    const auto all = reference("nn.json");
    compare_layer<T>(all["Linear"], nn::Linear<T>(random, 5, 4));
    compare_layer<T>(all["LayerNorm"], nn::LayerNorm<T>(6));
    compare_layer<T>(all["RMSNorm"], nn::RMSNorm<T>(6));
    compare_layer<T>(all["MLP"], nn::MLP<T>(random, 4, 7, 0.0));
}
