// The attention family against PyTorch: output, weights and all gradients, with its state dicts. Single heads,
// multi-head and scaled dot-product attention (causal, cross and masked, composed and fused), scoring functions, and
// positions.
#include "engine/fused/rotary.h"
#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/scores.h"
#include "nn/attention/self_attention.h"
#include "nn/positions.h"
#include "tests/nn/attention/pytorch.h"

template <class T, class Layer>
static void compare_layer(const std::string& name, const std::string& state, Layer& layer) {
    compare<T>(name, state, layer, {"x"}, [&](const Named<T>& in) { return layer.forward(in.at("x")); });
}

template <class T>
static void compare_product(const std::string& name, AttentionOptions options) {
    const Case numbers(name);
    options.mask = numbers.mask();
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        INFO((wanted == NeedWeights::yes ? "composed" : "fused"));
        compare<T>(name, {"q", "k", "v"}, [&](const Named<T>& in) {
            return nn::scaled_dot_product_attention(in.at("q"), in.at("k"), in.at("v"), options, wanted);
        });
    }
}

// Without valid lengths, with one per sequence, and with one per query (one of them 0).
const std::vector<std::string> kLengthKinds = {"", "_lens", "_each"};

template <class T>
static void compare_score(const std::string& name, bool has_parameters, std::unique_ptr<nn::Score<T>> score) {
    nn::Attention<T> attention(std::move(score), 0.0);
    if (has_parameters) models::load_state_dict(attention, attention_file(name));
    for (const std::string& kind : kLengthKinds) {
        const Case numbers(name + kind);
        compare<T>(numbers, inputs_of<T>(numbers, {"Q", "K", "V"}), &attention, [&](const Named<T>& in) {
            return attention.forward(in.at("Q"), in.at("K"), in.at("V"), numbers.valid_lens());
        });
    }
    const Case alone(name + "_score");
    compare<T>(alone, inputs_of<T>(alone, {"Q", "K"}), attention.score.get(),
               [&](const Named<T>& in) { return attention.score->forward(in.at("Q"), in.at("K")); });
}

TEMPLATE_TEST_CASE("PyTorch agrees: simple_self_attention, SelfAttention, CausalAttention", "[nn]", float, double) {
    for (const char* name : {"simple", "simple_batch"})
        compare<T>(name, {"x"}, [](const Named<T>& in) { return nn::simple_self_attention(in.at("x")); });
    Generator random{1, 0};
    nn::SelfAttention<T> plain(random, 3, 4), biased(random, 5, 3, 4);
    compare_layer<T>("self", "self", plain);
    compare_layer<T>("self_biased", "self_biased", biased);
    const MaskArray mask = Case("self_masked").mask();
    compare<T>("self_masked", "self_biased", biased, {"x"},
               [&](const Named<T>& in) { return biased.forward(in.at("x"), mask); });
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

TEMPLATE_TEST_CASE("PyTorch agrees: multi-head attention, causal, and cross with every mask", "[nn]", float, double) {
    Generator random{1, 0};
    nn::MultiHeadAttentionWrapper<T> plain(random, 4, 3, 5, 0.0, 2), mixed(random, 3, 2, 6, 0.0, 3, true, true);
    compare_layer<T>("wrapper", "wrapper", plain);
    compare_layer<T>("wrapper_final", "wrapper_final", mixed);
    using Attention = nn::MultiHeadAttention<T>;
    Attention heads(random, 5, 6, 7, 0.0, 3), biased(random, 6, 8, 5, 0.0, 2, true);
    Attention packed(random, {.width = 8, .context_length = 5, .num_heads = 2, .dropout = 0.0});
    Attention unbiased(random, {.width = 8, .context_length = 6, .num_heads = 2, .dropout = 0.0, .bias = false});
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        const auto causal = [&](const std::string& name, Attention& attention, const char* x) {
            compare<T>(name, name, attention, {x},
                       [&](const Named<T>& in) { return attention.forward(in.at(x), wanted); });
        };
        causal("multi", heads, "query"), causal("multi_biased", biased, "query"), causal("packed", packed, "x");
        causal("packed_unbiased", unbiased, "x");
    }
    nn::MultiHeadAttention<T> cross(random, 5, 6, 1, 0.0, 3), cross_biased(random, 6, 8, 1, 0.0, 2, true);
    for (const auto& [state, attention] : {std::pair{"multi", &cross}, std::pair{"multi_biased", &cross_biased}})
        for (const char* kind : {"cross", "padding", "look_ahead", "plain", "each"}) {
            const std::string name = std::string(state) + "_" + kind;
            const MaskArray mask = Case(name).mask();
            for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no})
                compare<T>(name, state, *attention, {"query", "key", "value"},
                           [&, layer = attention](const Named<T>& in) {
                               return layer->forward(in.at("query"), in.at("key"), in.at("value"), mask, wanted);
                           });
        }
}

TEMPLATE_TEST_CASE("PyTorch agrees: scaled dot products, ALiBi, scores, masked_softmax", "[nn]", float, double) {
    for (const char* name : {"sdpa", "sdpa_padding", "sdpa_plain", "sdpa_each"}) compare_product<T>(name, {});
    for (const char* name : {"sdpa_causal", "sdpa_causal_later", "sdpa_causal_mask"})
        compare_product<T>(name, {.causal = true});
    compare_product<T>("sdpa_scale", {.scale = 0.3});
    for (const std::size_t heads : {4, 6}) {
        const std::string name = "alibi_" + std::to_string(heads);
        const std::vector<double> slopes = nn::alibi_slopes(heads);
        check_close(of<double>(slopes), Case(name).array<double>("slopes"), 0, "slopes");
        compare_product<T>(name + "_open", {.alibi = slopes});
        compare_product<T>(name, {.causal = true, .alibi = slopes});
    }
    Generator random{1, 0};
    compare_score<T>("dot", false, std::make_unique<nn::DotScore<T>>());
    compare_score<T>("scaled_dot", false, std::make_unique<nn::ScaledDotScore<T>>());
    compare_score<T>("bilinear", true, std::make_unique<nn::BilinearScore<T>>(random, 3, 4));
    compare_score<T>("concat", true, std::make_unique<nn::ConcatScore<T>>(random, 3, 4));
    compare_score<T>("additive", true, std::make_unique<nn::AdditiveScore<T>>(random, 3, 4, 6));
    nn::AdditiveAttention<T> attention(random, 4, 3, 6, 0.0);
    for (const std::string& kind : kLengthKinds) {
        const nn::ValidLengths valid_lens = Case("additive_attention" + kind).valid_lens();
        compare<T>("additive_attention" + kind, "additive_attention", attention, {"queries", "keys", "values"},
                   [&](const Named<T>& in) {
                       return attention.forward(in.at("queries"), in.at("keys"), in.at("values"), valid_lens);
                   });
    }
    for (const std::string& kind : kLengthKinds) {
        const nn::ValidLengths valid_lens = Case("masked_softmax" + kind).valid_lens();
        compare<T>("masked_softmax" + kind, {"x"},
                   [&](const Named<T>& in) { return nn::masked_softmax(in.at("x"), valid_lens); });
        if (kind.empty()) continue;
        compare<T>("sequence_mask" + kind, {"x"},
                   [&](const Named<T>& in) { return nn::sequence_mask(in.at("x"), valid_lens, -2.5); });
    }
}

TEST_CASE("scores: initial values reach to 1 / sqrt(width), and no further", "[nn]") {
    Generator random{7, 0};
    const nn::BilinearScore<double> bilinear(random, 50, 16);
    const nn::ConcatScore<double> concat(random, 200, 56);
    const auto largest = [](const ConstArray<double>& w) {
        return std::abs(*std::max_element(w.data(), w.data() + w.size(),
                                          [](double a, double b) { return std::abs(a) < std::abs(b); }));
    };
    CHECK_ALL(largest(bilinear.W.value()) <= 1.0 / 4, largest(bilinear.W.value()) > 0.9 / 4);
    CHECK_ALL(largest(concat.w.value()) <= 1.0 / 16, largest(concat.w.value()) > 0.9 / 16);
}

TEMPLATE_TEST_CASE("PyTorch agrees: rotary of both kinds, sinusoidal and learned positions", "[nn]", float, double) {
    for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved})
        for (const bool clockwise : {false, true}) {
            const std::string name = std::string("rotary_") +
                                     (pairs == RotaryPairs::halves ? "halves" : "interleaved") +
                                     (clockwise ? "_clockwise" : "_counter");
            const RotaryOptions first{10000, pairs, clockwise, 0}, later{500, pairs, clockwise, 7};
            compare<T>(name, {"x"}, [&](const Named<T>& in) { return rotary(in.at("x"), first); });
            compare<T>(name + "_later", {"x"}, [&](const Named<T>& in) { return rotary(in.at("x"), later); });
        }
    Generator random{1, 0};
    check_close(nn::sinusoidal_positions<T>(50, 10), Case("sinusoidal").array<double>("output"), kTolerance<T>);
    nn::LearnedPositions<T> learned(random, 7, 4);
    for (const std::size_t start : {0, 2})
        compare<T>(start ? "learned_later" : "learned", "learned", learned, {"x"},
                   [&](const Named<T>& in) { return learned.forward(in.at("x"), start); });
}
