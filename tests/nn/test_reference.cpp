// Layers and attention against PyTorch: outputs and the gradients of every input and parameter, in double and float.
#include "nn/attention/multi_head.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "tests/engine/helpers.h"
#include "tests/reference/read.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

template <class T>
inline constexpr double kTolerance = std::is_same_v<T, double> ? 1e-12 : 1e-5;

template <class T>
Tensor<T> input(const nlohmann::json& stored) {
    return Tensor<T>(array_from<T>(stored), true);
}

// Loads the parameters of `module` from the case, runs f, and compares its output and all gradients.
template <class T, class F>
void compare(const nlohmann::json& numbers, nn::Module<T>& module,
             const std::vector<std::pair<std::string, Tensor<T>>>& in, const F& f) {
    for (auto& [name, p] : module.parameters()) p.value_in_place() = array_from<T>(numbers.at(name));
    const Tensor<T> y = f();
    check_close(y.value(), array_from<double>(numbers.at("y")), kTolerance<T>, "output");
    backward(y, array_from<T>(numbers.at("dy")));
    for (const auto& [name, x] : in)
        check_close(x.grad(), array_from<double>(numbers.at("d_" + name)), kTolerance<T>, "gradient of " + name);
    for (const auto& [name, p] : module.parameters())
        check_close(p.grad(), array_from<double>(numbers.at("d_" + name)), kTolerance<T>, "gradient of " + name);
}

template <class T, class Layer>
void compare_layer(const nlohmann::json& numbers, Layer layer) {
    const Tensor<T> x = input<T>(numbers.at("x"));
    compare<T>(numbers, layer, {{"x", x}}, [&] { return layer.forward(x); });
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

TEMPLATE_TEST_CASE("PyTorch agrees: packed causal attention, as torch.nn.MultiheadAttention", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    const auto numbers = reference("nn.json")["packed attention"];
    nn::MultiHeadAttention<T> attention(random, {.width = 8, .context_length = 5, .num_heads = 2, .dropout = 0.0});
    const Tensor<T> x = input<T>(numbers["x"]);
    compare<T>(numbers, attention, {{"x", x}}, [&] {
        const auto [y, weights] = attention.forward(x);
        check_close(weights.value(), array_from<double>(numbers["weights"]), kTolerance<T>, "weights");
        return y;
    });
}

TEMPLATE_TEST_CASE("PyTorch agrees: causal attention with separate projections", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    const auto numbers = reference("nn.json")["causal attention"];
    nn::MultiHeadAttention<T> attention(random, 5, 6, 4, 0, 3);
    const Tensor<T> x = input<T>(numbers["query"]);
    compare<T>(numbers, attention, {{"query", x}}, [&] { return attention.forward(x).output; });
}

TEMPLATE_TEST_CASE("PyTorch agrees: cross attention with padded keys", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    const auto numbers = reference("nn.json")["cross attention"];
    nn::MultiHeadAttention<T> attention(random, 4, 6, 1, 0, 2);
    const Tensor<T> q = input<T>(numbers["query"]), k = input<T>(numbers["key"]), v = input<T>(numbers["value"]);
    const MaskArray mask = array_from<std::uint8_t>(numbers["mask"]);
    compare<T>(numbers, attention, {{"query", q}, {"key", k}, {"value", v}},
               [&] { return attention.forward(q, k, v, mask).output; });
}
