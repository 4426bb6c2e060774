#include "nn/gradcheck.h"

#include "engine/ops.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/scores.h"

namespace inkling::nn {
namespace {

// Joins output and weights into one tensor (..., Lq, dv + Lk), so that the random cotangent checks both.
Tensor<double> both(const AttentionOutput<double>& a) { return concatenate<double>({a.output, a.weights}, -1); }

template <class Layer>
double self_error(Layer& layer, const Shape& shape) {
    return module_gradient_error(layer, [&](const Inputs& in, Generator*) { return both(layer.forward(in[0])); },
                                 {normal(shape, 61)});
}

ValidLengths lengths(const Shape& shape, std::initializer_list<std::int32_t> values) {
    ValidLengths result(shape);
    std::copy(values.begin(), values.end(), result.data());
    return result;
}

double causal_error(CausalMask how) {
    Generator initial_values{1337, 0};
    CausalAttention<double> plain(initial_values, 3, 2, 6, 0.0, true, how),
        dropping(initial_values, 3, 2, 6, 0.4, false, how);
    const auto output = [&](const Inputs& in, Generator* random) { return dropping.forward(in[0], random).output; };
    return std::max(self_error(plain, {2, 5, 3}), module_gradient_error(dropping, output, {normal({2, 6, 3}, 62)}));
}

// The error of a whole attention with this score, with valid lengths and, if the score allows it, different widths of
// Q and K.
template <template <class> class S, class... Sizes>
double score_error(std::size_t dq, std::size_t dk, Sizes... more) {
    Generator initial_values{1337, 0};
    std::unique_ptr<Score<double>> score;
    if constexpr (std::is_default_constructible_v<S<double>>)
        score = std::make_unique<S<double>>();
    else
        score = std::make_unique<S<double>>(initial_values, dq, dk, more...);
    Attention<double> attention(std::move(score), 0.3);
    const ValidLengths valid = lengths({2}, {2, 4});
    const auto f = [&](const Inputs& in, Generator* random) {
        const Tensor<double> scores = attention.score->forward(in[0], in[1]);
        return concatenate<double>({attention.forward(in[0], in[1], in[2], valid, random).output, scores}, -1);
    };
    return module_gradient_error(attention, f, {normal({2, 3, dq}, 63), normal({2, 4, dk}, 64), normal({2, 4, 5}, 65)});
}

double additive_error() {
    Generator initial_values{1337, 0};
    AdditiveAttention<double> attention(initial_values, 3, 4, 6, 0.2);
    double worst = 0;
    for (const ValidLengths& valid : {ValidLengths(), lengths({2}, {2, 5}), lengths({2, 2}, {1, 5, 3, 4})}) {
        const auto f = [&](const Inputs& in, Generator* random) {
            return attention.forward(in[0], in[1], in[2], valid, random).output;
        };
        worst = std::max(
            worst,
            module_gradient_error(attention, f, {normal({2, 2, 4}, 66), normal({2, 5, 3}, 67), normal({2, 5, 3}, 68)}));
    }
    return worst;
}

double multi_head_error(bool packed, double dropout) {
    using Attention = MultiHeadAttention<double>;
    Generator initial_values{1337, 0};
    Attention attention =
        packed ? Attention(initial_values, {.width = 6, .context_length = 5, .num_heads = 2, .dropout = dropout})
               : Attention(initial_values, 4, 6, 5, dropout, 3, true);
    const Array<double> x = normal({2, 5, packed ? 6u : 4u}, 69);
    double worst = 0;
    for (const NeedWeights wanted : {NeedWeights::no, NeedWeights::yes}) {
        const auto f = [&](const Inputs& in, Generator* random) {
            return attention.forward(in[0], wanted, random).output;
        };
        worst = std::max(worst, module_gradient_error(attention, f, {x}));
    }
    const auto weights = [&](const Inputs& in, Generator* random) {
        return attention.forward(in[0], NeedWeights::yes, random).weights;
    };
    return std::max(worst, module_gradient_error(attention, weights, {x}));
}

double cross_error() {
    Generator initial_values{1337, 0};
    MultiHeadAttention<double> attention(initial_values, 4, 4, 5, 0.2, 2);
    double worst = 0;
    const MaskArray plain = look_ahead_mask(3, 5).reshaped({3, 5});
    for (const MaskArray& mask : {MaskArray(), padding_mask({4, 3}, 5), look_ahead_mask(3, 5), plain}) {
        for (const NeedWeights wanted : {NeedWeights::no, NeedWeights::yes}) {
            const auto f = [&](const Inputs& in, Generator* random) {
                return attention.forward(in[0], in[1], in[2], mask, wanted, random).output;
            };
            worst = std::max(
                worst, module_gradient_error(attention, f,
                                             {normal({2, 3, 4}, 70), normal({2, 5, 4}, 71), normal({2, 5, 4}, 72)}));
        }
    }
    return worst;
}

double scaled_dot_product_error(NeedWeights wanted) {
    const AttentionOptions causal{.causal = true, .dropout = 0.3, .dropout_key = {7, 8}},
        masked{.mask = padding_mask({4, 2}, 4), .dropout = 0.2}, alibi{.causal = true, .alibi = alibi_slopes(2)};
    double worst = 0;
    for (const AttentionOptions& options : {AttentionOptions(), causal, masked, alibi}) {
        for (const std::size_t K : {2, 1}) {
            const auto f = [&](const Inputs& in) {
                return scaled_dot_product_attention(in[0], in[1], in[2], options, wanted).output;
            };
            worst = std::max(worst, gradient_error(f, {normal({2, 2, 3, 4}, 73), normal({2, K, 4, 4}, 74),
                                                       normal({2, K, 4, 5}, 75)}));
        }
    }
    return worst;
}

}  // namespace

std::vector<GradcheckRow> gradcheck_attention() {
    return {
        {"simple_self_attention",
         [] {
             const auto f = [](const Inputs& in) { return both(simple_self_attention(in[0])); };
             return std::max(gradient_error(f, {normal({6, 3}, 60)}), gradient_error(f, {normal({2, 4, 3}, 60)}));
         }},
        {"SelfAttention",
         [] {
             Generator random{1337, 0};
             SelfAttention<double> one(random, 3, 2), two(random, 4, 3, 5);
             const MaskArray mask = look_ahead_mask(4, 4).reshaped({1, 4, 4});
             const auto masked = [&](const Inputs& in, Generator*) { return both(two.forward(in[0], mask)); };
             return std::max({self_error(one, {6, 3}), self_error(two, {2, 3, 4}),
                              module_gradient_error(two, masked, {normal({2, 4, 4}, 61)})});
         }},
        {"CausalAttention (fill_minus_infinity)", [] { return causal_error(CausalMask::fill_minus_infinity); }},
        {"CausalAttention (renormalize)", [] { return causal_error(CausalMask::renormalize); }},
        {"MultiHeadAttentionWrapper",
         [] {
             Generator initial_values{1337, 0};
             MultiHeadAttentionWrapper<double> plain(initial_values, 3, 2, 5, 0.0, 2),
                 mixed(initial_values, 3, 2, 5, 0.2, 3, true, true);
             const auto output = [](auto& layer) {
                 const auto f = [&](const Inputs& in, Generator* random) {
                     return layer.forward(in[0], random).output;
                 };
                 return module_gradient_error(layer, f, {normal({2, 4, 3}, 61)});
             };
             return std::max(output(plain), output(mixed));
         }},
        {"MultiHeadAttention (self)",
         [] { return std::max(multi_head_error(false, 0), multi_head_error(false, 0.3)); }},
        {"MultiHeadAttention (self, packed)",
         [] { return std::max(multi_head_error(true, 0), multi_head_error(true, 0.3)); }},
        {"MultiHeadAttention (cross, masks)", cross_error},
        {"scaled_dot_product_attention (composed)", [] { return scaled_dot_product_error(NeedWeights::yes); }},
        {"scaled_dot_product_attention (fused)", [] { return scaled_dot_product_error(NeedWeights::no); }},
        {"DotScore", [] { return score_error<DotScore>(3, 3); }},
        {"ScaledDotScore", [] { return score_error<ScaledDotScore>(3, 3); }},
        {"BilinearScore", [] { return score_error<BilinearScore>(3, 2); }},
        {"ConcatScore", [] { return score_error<ConcatScore>(3, 2); }},
        {"AdditiveScore", [] { return score_error<AdditiveScore>(3, 2, std::size_t{4}); }},
        {"AdditiveAttention", additive_error},
        {"masked_softmax",
         [] {
             double worst = 0;
             for (const ValidLengths& valid :
                  {ValidLengths(), lengths({2}, {2, 4}), lengths({2, 3}, {1, 2, 3, 4, 1, 2})}) {
                 const auto f = [&](const Inputs& in) { return masked_softmax(in[0], valid); };
                 worst = std::max(worst, gradient_error(f, {normal({2, 3, 4}, 76)}));
             }
             return worst;
         }},
    };
}

}  // namespace inkling::nn
