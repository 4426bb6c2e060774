// One head, causal heads and the wrapper against PyTorch: output, weights and all gradients, with its state dicts.
#include "nn/attention/multi_head.h"
#include "nn/attention/self_attention.h"
#include "tests/nn/attention/pytorch.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

template <class T, class Layer>
void compare_layer(const std::string& name, const std::string& state, Layer& layer) {
    compare<T>(name, state, layer, {"x"}, [&](const Named<T>& in) { return layer.forward(in.at("x")); });
}

}  // namespace

TEMPLATE_TEST_CASE("PyTorch agrees: simple_self_attention", "[nn]", float, double) {
    using T = TestType;
    for (const char* name : {"simple", "simple_batch"})
        compare<T>(name, {"x"}, [](const Named<T>& in) { return nn::simple_self_attention(in.at("x")); });
}

TEMPLATE_TEST_CASE("PyTorch agrees: SelfAttention, both constructors and a mask", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    nn::SelfAttention<T> plain(random, 3, 4), biased(random, 5, 3, 4);
    compare_layer<T>("self", "self", plain);
    compare_layer<T>("self_biased", "self_biased", biased);
    const MaskArray mask = Case("self_masked").mask();
    compare<T>("self_masked", "self_biased", biased, {"x"},
               [&](const Named<T>& in) { return biased.forward(in.at("x"), mask); });
}

TEMPLATE_TEST_CASE("PyTorch agrees: CausalAttention, both ways to the mask", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    for (const bool bias : {false, true}) {
        const std::string name = bias ? "causal_biased" : "causal";
        nn::CausalAttention<T> fill(random, 4, 3, 8, 0.0, bias);
        nn::CausalAttention<T> renormalize(random, 4, 3, 6, 0.0, bias, nn::CausalMask::renormalize);
        compare_layer<T>(name, name, fill);
        compare_layer<T>(name + "_renormalize", name, renormalize);
        // The cases share x, so the two ways can be compared: as near as each is to PyTorch.
        const Tensor<T> x = Case(name).input<T>("x");
        check_close(fill.forward(x).output.value(), renormalize.forward(x).output.value(),
                    std::is_same_v<T, double> ? 1e-14 : 1e-6, "the two ways");
    }
}

TEMPLATE_TEST_CASE("PyTorch agrees: MultiHeadAttentionWrapper, without and with a final linear layer", "[nn]", float,
                   double) {
    Generator random{1, 0};
    using T = TestType;
    nn::MultiHeadAttentionWrapper<T> plain(random, 4, 3, 5, 0.0, 2), mixed(random, 3, 2, 6, 0.0, 3, true, true);
    compare_layer<T>("wrapper", "wrapper", plain);
    compare_layer<T>("wrapper_final", "wrapper_final", mixed);
}
