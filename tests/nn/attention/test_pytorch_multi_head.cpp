// Multi-head and scaled dot-product attention against PyTorch: causal, cross and masked, composed and fused.
#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "tests/nn/attention/pytorch.h"

using namespace inkling;
using namespace inkling::testing;
using nn::NeedWeights;

namespace {

template <class T>
void compare_product(const std::string& name, AttentionOptions options) {
    const Case numbers(name);
    options.mask = numbers.mask();
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        INFO((wanted == NeedWeights::yes ? "composed" : "fused"));
        compare<T>(name, {"q", "k", "v"}, [&](const Named<T>& in) {
            return nn::scaled_dot_product_attention(in.at("q"), in.at("k"), in.at("v"), options, wanted);
        });
    }
}

}  // namespace

TEMPLATE_TEST_CASE("PyTorch agrees: MultiHeadAttention, causal", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    using Attention = nn::MultiHeadAttention<T>;
    Attention plain(random, 5, 6, 7, 0.0, 3), biased(random, 6, 8, 5, 0.0, 2, true);
    Attention packed(random, {.width = 8, .context_length = 5, .num_heads = 2, .dropout = 0.0});
    Attention unbiased(random, {.width = 8, .context_length = 6, .num_heads = 2, .dropout = 0.0, .bias = false});
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        const auto causal = [&](const std::string& name, Attention& attention, const char* x) {
            compare<T>(name, name, attention, {x},
                       [&](const Named<T>& in) { return attention.forward(in.at(x), wanted); });
        };
        causal("multi", plain, "query");
        causal("multi_biased", biased, "query");
        causal("packed", packed, "x");
        causal("packed_unbiased", unbiased, "x");
    }
}

TEMPLATE_TEST_CASE("PyTorch agrees: MultiHeadAttention, cross attention with every kind of mask", "[nn]", float,
                   double) {
    Generator random{1, 0};
    using T = TestType;
    nn::MultiHeadAttention<T> plain(random, 5, 6, 1, 0.0, 3), biased(random, 6, 8, 1, 0.0, 2, true);
    for (const auto& [state, attention] : {std::pair{"multi", &plain}, std::pair{"multi_biased", &biased}}) {
        for (const char* kind : {"cross", "padding", "look_ahead", "plain", "each"}) {
            const std::string name = std::string(state) + "_" + kind;
            const MaskArray mask = Case(name).mask();
            for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
                compare<T>(name, state, *attention, {"query", "key", "value"},
                           [&, layer = attention](const Named<T>& in) {
                               return layer->forward(in.at("query"), in.at("key"), in.at("value"), mask, wanted);
                           });
            }
        }
    }
}

TEMPLATE_TEST_CASE("PyTorch agrees: scaled_dot_product_attention, composed and fused", "[nn]", float, double) {
    using T = TestType;
    AttentionOptions causal, scaled;
    causal.causal = true;
    scaled.scale = 0.3;
    for (const char* name : {"sdpa", "sdpa_padding", "sdpa_plain", "sdpa_each"}) compare_product<T>(name, {});
    for (const char* name : {"sdpa_causal", "sdpa_causal_later", "sdpa_causal_mask"}) compare_product<T>(name, causal);
    compare_product<T>("sdpa_scale", scaled);
}

TEMPLATE_TEST_CASE("PyTorch agrees: ALiBi with 4 and 6 heads, causal and open, composed and fused", "[nn]", float,
                   double) {
    using T = TestType;
    for (const std::size_t heads : {4, 6}) {
        const std::string name = "alibi_" + std::to_string(heads);
        AttentionOptions options;
        options.alibi = nn::alibi_slopes(heads);
        check_close(of<double>(options.alibi), Case(name).array<double>("slopes"), 0, "slopes");
        compare_product<T>(name + "_open", options);
        options.causal = true;
        compare_product<T>(name, options);
    }
}
