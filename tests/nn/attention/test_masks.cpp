// Masks, lengths and ALiBi's slopes: known values, weights of exactly 0, and fully masked rows.
#include "nn/attention/masks.h"

#include "nn/attention/multi_head.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/attention/self_attention.h"

static ValidLengths lengths(const Shape& shape, const std::vector<double>& values) {
    return of<std::int32_t>(shape, values);
}

// Weights (..., L, L): exactly 0 above the diagonal, above 0 elsewhere, rows that sum to 1.
template <class A>
static void check_causal(const A& weights_any) {
    const auto weights = weights_any.contiguous();
    const std::size_t L = weights.dim(-1);
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < weights.size() / L; ++row) {
        double total = 0;
        for (std::size_t j = 0; j < L; ++j) {
            const auto w = weights.data()[row * L + j];
            wrong += (w == 0) != (j > row % L);
            total += static_cast<double>(w);
        }
        CHECK(total == Approx(1).epsilon(1e-6));
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("causal attention: blocked places weigh 0, and a row may be left empty", "[nn]", float, double) {
    Generator random{1, 0};
    const Tensor<T> x(random_array<T>({2, 9, 4}, 1));
    for (const auto how : {CausalMask::fill_minus_infinity, CausalMask::renormalize})
        check_causal(CausalAttention<T>(random, 4, 4, 9, 0.5, false, how).forward(x, &random).weights.value());
    check_causal(MultiHeadAttentionWrapper<T>(random, 4, 3, 9, 0.5, 2).forward(x, &random).weights.value());
    const Tensor<T> q(random_array<T>({2, 3, 9, 4}, 2));
    check_causal(scaled_dot_product_attention(q, q, q, {.causal = true}).weights.value());
    CausalAttention<T> fill(random, 1, 1, 2, 0.0), renormalize(random, 1, 1, 2, 0.0, false, CausalMask::renormalize);
    for (auto* attention : {&fill, &renormalize})
        for (auto& [name, p] : attention->parameters()) p.value_in_place().data()[0] = T{1};
    const Tensor<T> large(of<T>({2, 1}, {30, 60}));  // the first token's scores are 900 and 1800
    CHECK_THROWS_WITH(renormalize.forward(large),
                      contains("CausalAttention: renormalize", "token 0 of scores (2, 2)", "use fill_minus_infinity"));
    check_close(fill.forward(large).output.value(), of<T>({2, 1}, {30, 60}), 1e-6);
}

TEST_CASE("masks: padding, look-ahead, windows and lengths, by value", "[nn]") {
    const MaskArray mask = window_mask(3, 5, 2);
    CHECK(std::vector<int>(mask.data(), mask.data() + mask.size()) ==
          std::vector<int>{0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1});
    const Tensor<double> x(of<double>({1, 2, 3}, {1, 2, 3, 4, 5, 6}));  // the value stands beyond the lengths
    check_equal(sequence_mask(x, lengths({1}, {1})).value(), {1, 0, 0, 4, 0, 0});
    check_equal(sequence_mask(x, lengths({1, 2}, {2, 0}), -7).value(), {1, 2, -7, -7, -7, -7});
    const MaskArray padding = padding_mask({1, 0, 3}, 3), ahead = look_ahead_mask(2, 4);
    CHECK(to_string(padding.shape()) == "(3, 1, 1, 3)");  // padding and look-ahead, by value
    check_equal(padding, {1, 0, 0, 0, 0, 0, 1, 1, 1});
    CHECK(to_string(ahead.shape()) == "(1, 1, 2, 4)");
    check_equal(ahead, {1, 1, 1, 0, 1, 1, 1, 1});
}

TEMPLATE_TEST_CASE("attention masks: a masked weight is 0, its key and value do not matter", "[nn]", float, double) {
    Generator random{1, 0};
    const SelfAttention<T> attention(random, 3, 2);
    const MaskArray mask = of<std::uint8_t>({1, 3, 3}, {1, 0, 1, 0, 1, 0, 1, 1, 1});
    const auto [y, weights] = attention.forward(Tensor<T>(random_array<T>({2, 3, 3}, 1)), mask);
    for (std::size_t i = 0; i < 18; ++i) CHECK((weights.value().data()[i] == 0) == !mask.data()[i % 9]);
    CHECK(weights.value().data()[4] == 1);  // the one that is left

    const AttentionOptions options{.mask = padding_mask({3, 5}, 5)};
    const Array<T> q = random_array<T>({2, 2, 4, 8}, 1), k = random_array<T>({2, 2, 5, 8}, 2);
    Array<T> v = random_array<T>({2, 2, 5, 3}, 3);
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        const auto run_at = [&] {
            return scaled_dot_product_attention(Tensor<T>(q), Tensor<T>(k), Tensor<T>(v), options, wanted)
                .output.value()
                .contiguous();
        };
        const ConstArray<T> before = run_at();
        Array<T> padding = v.sliced(0, 0, 1).sliced(2, 3, 5);
        copy_into(padding, Array<T>(padding.shape(), T{1e30f}));
        CHECK(same_bits(run_at(), before));
    }
}

TEMPLATE_TEST_CASE("attention masks: a query that sees nothing is an error that names the op", "[nn]", float, double) {
    Generator random{1, 0};
    const Tensor<T> q(random_array<T>({2, 1, 3, 4}, 1)), x(random_array<T>({2, 3, 4}, 1));
    AttentionOptions options{.mask = MaskArray({2, 1, 3, 3}, 1)};
    std::fill_n(options.mask.data() + 12, 3, std::uint8_t{0});  // query 1 of batch 1
    CHECK_THROWS_WITH(scaled_dot_product_attention(q, q, q, options, NeedWeights::no),
                      contains("attention: query 1 of batch 1 may see no key"));
    CHECK_THROWS_WITH(scaled_dot_product_attention(q, q, q, options, NeedWeights::yes),
                      contains("scaled_dot_product_attention: query 1 of batch 1 may see no key"));
    CHECK_THROWS_WITH(SelfAttention<T>(random, 4, 2).forward(x, options.mask.reshaped({2, 3, 3})),
                      contains("SelfAttention: query 1 of batch 1 may see no key"));
    // Causal, with the only key of query 0 blocked.
    options.mask = of<std::uint8_t>({1, 1, 1, 3}, {0, 1, 1});
    options.causal = true;
    CHECK_THROWS_WITH(scaled_dot_product_attention(q, q, q, options, NeedWeights::no), contains("attention: query 0"));
    CHECK_THROWS_WITH(scaled_dot_product_attention(q, q, q, options),
                      contains("scaled_dot_product_attention: query 0 of batch 0"));
    options.causal = false;
    CHECK_NOTHROW(scaled_dot_product_attention(q, q, q, options, NeedWeights::no));
    CHECK_NOTHROW(scaled_dot_product_attention(q, q, q, options));
}

TEMPLATE_TEST_CASE("masked_softmax: with -1e6, a row without keys is uniform, others have 0", "[nn]", float, double) {
    const Tensor<T> x(random_array<T>({2, 2, 5}, 1));
    const ConstArray<T> y = masked_softmax(x, lengths({2, 2}, {0, 1, 3, 5})).value();
    for (std::size_t j = 0; j < 5; ++j) {
        CHECK_ALL(y.data()[j] == Approx(0.2).epsilon(1e-6), y.data()[5 + j] == (j == 0 ? 1 : 0));
        CHECK_ALL((y.data()[10 + j] == 0) == (j >= 3), y.data()[15 + j] > 0);
    }
    const ConstArray<T> each = masked_softmax(x, lengths({2}, {2, 4})).value();
    for (std::size_t i = 0; i < 20; ++i) CHECK((each.data()[i] == 0) == (i % 5 >= (i < 10 ? 2 : 4)));
    CHECK(same_bits(masked_softmax(x).value(), softmax(x).value()));
    CHECK(same_bits(masked_softmax(x, lengths({2}, {5, 5})).value(), softmax(x).value()));
}

TEST_CASE("ALiBi: slopes for powers of two and for other numbers of heads, and the bias by value", "[nn]") {
    check_close(of<double>(alibi_slopes(4)), of<double>({.25, .0625, .015625, .00390625}), 0);
    check_close(of<double>(alibi_slopes(6)), of<double>({.25, .0625, .015625, .00390625, .5, .125}), 0);
    check_close(of<double>(alibi_slopes(1)), of<double>({.00390625}), 0);
    REQUIRE(alibi_slopes(8).size() == 8);
    CHECK(alibi_slopes(8).front() == .5);
    const Array<double> bias = alibi_bias<double>({1, .5}, 2, 3);
    CHECK(to_string(bias.shape()) == "(1, 2, 2, 3)");
    check_equal(bias, {-1, 0, 1, -2, -1, 0, -.5, 0, .5, -1, -.5, 0});
}
