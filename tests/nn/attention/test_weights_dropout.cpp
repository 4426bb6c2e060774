// Dropout of attention weights: only in training, repeatable, and not in the returned weights.
#include "nn/attention/multi_head.h"
#include "nn/attention/scores.h"
#include "nn/init.h"

// Two layers with the same parameters, one with dropout; run(layer, &random) gives output and weights.
template <class Layer, class Run>
static void check_dropout(Layer dropping, Layer plain, const Run& run) {
    auto from = plain.parameters(), to = dropping.parameters();
    for (std::size_t i = 0; i < from.size(); ++i) to[i].second.value_in_place() = from[i].second.value();
    Generator random{9, 0};
    const auto expected = run(plain, &random);
    CHECK(random.next_stream == 0);
    const auto first = run(dropping, &random), second = run(dropping, &random);
    CHECK_FALSE(same_bits(first.output.value(), expected.output.value()));
    CHECK_FALSE(same_bits(first.output.value(), second.output.value()));
    CHECK(same_bits(first.weights.value(), expected.weights.value()));  // before dropout
    random = {9, 0};
    const auto again = run(dropping, &random);
    CHECK(same_bits(first.output.value(), again.output.value()));
    dropping.eval();
    const std::uint64_t stream = random.next_stream;
    CHECK_ALL(same_bits(run(dropping, &random).output.value(), expected.output.value()), random.next_stream == stream);
    CHECK(same_bits(run(dropping, nullptr).output.value(), expected.output.value()));
    dropping.train();
    CHECK_FALSE(same_bits(run(dropping, &random).output.value(), expected.output.value()));
    CHECK_THROWS_WITH(run(dropping, nullptr), contains("needs random numbers: pass a Generator"));
}

TEMPLATE_TEST_CASE("dropout of weights: heads, any score, and alike without the weights", "[nn]", float, double) {
    Generator random{1, 0};
    const Tensor<T> x(random_array<T>({2, 8, 6}, 1));
    const auto run = [&](const auto& layer, Generator* keys) { return layer.forward(x, keys); };
    for (const auto how : {CausalMask::fill_minus_infinity, CausalMask::renormalize})
        check_dropout(CausalAttention<T>(random, 6, 4, 8, 0.5, false, how),
                      CausalAttention<T>(random, 6, 4, 8, 0.0, false, how), run);
    check_dropout(MultiHeadAttentionWrapper<T>(random, 6, 4, 8, 0.5, 2),
                  MultiHeadAttentionWrapper<T>(random, 6, 4, 8, 0.0, 2), run);
    check_dropout(MultiHeadAttention<T>(random, 6, 4, 8, 0.5, 2), MultiHeadAttention<T>(random, 6, 4, 8, 0.0, 2),
                  [&](const auto& layer, Generator* keys) { return layer.forward(x, NeedWeights::yes, keys); });
    const Tensor<T> key(random_array<T>({2, 5, 6}, 2));
    check_dropout(
        MultiHeadAttention<T>(random, 6, 4, 8, 0.5, 2), MultiHeadAttention<T>(random, 6, 4, 8, 0.0, 2),
        [&](const auto& layer, Generator* keys) { return layer.forward(x, key, key, {}, NeedWeights::yes, keys); });
    const Tensor<T> Q(random_array<T>({2, 8, 6}, 1)), K(random_array<T>({2, 9, 6}, 2));
    const auto run_cross = [&](const auto& layer, Generator* keys) { return layer.forward(Q, K, K, {}, keys); };
    const auto bilinear = [&](double p) { return Attention<T>(std::make_unique<BilinearScore<T>>(random, 6, 6), p); };
    check_dropout(bilinear(0.5), bilinear(0.0), run_cross);
    check_dropout(AdditiveAttention<T>(random, 6, 6, 4, 0.5), AdditiveAttention<T>(random, 6, 6, 4, 0.0), run_cross);
    Generator initial{1, 0};
    const MultiHeadAttention<T> attention(initial, 6, 8, 40, 0.5, 2);
    const Tensor<T> longer(random_array<T>({2, 40, 6}, 1));
    const auto with = [&](NeedWeights wanted) {
        Generator keys{3, 0};
        return attention.forward(longer, wanted, &keys).output.value();
    };
    check_close(with(NeedWeights::no), with(NeedWeights::yes), std::is_same_v<T, double> ? 1e-13 : 1e-5);
    CHECK_FALSE(attention.forward(longer, NeedWeights::no, &random).weights.defined());
}
