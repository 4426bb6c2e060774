// Queries without a key. If a mask hides all keys, the result is an error, uniform weights or zeros, as chosen; if
// scores overflow, it is NaN.
#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/self_attention.h"
#include "tests/nn/attention/compare.h"

TEMPLATE_TEST_CASE("a query without a key: even weights or zeros, also fused", "[nn][unsanitized]", float, double) {
    const double tolerance = std::is_same_v<T, double> ? 1e-12 : 2e-5;
    for (const std::size_t L : {3, 40, 600}) {
        const auto qkv = random_qkv<T>({2, 2, L, L, 6, 5});
        for (const Masked none : {Masked::uniform, Masked::zero})
            for (std::size_t i = 0; i < 4; ++i) {
                AttentionOptions options{.causal = i % 2 == 1, .mask = MaskArray({2, 1, 1, L}, 1), .masked = none};
                // of the first sequence, whose first queries see none where attention is causal
                std::fill_n(options.mask.data(), i % 2 ? L / 3 : L, std::uint8_t{0});
                if (i >= 2) options.dropout = 0.3, options.dropout_key = {i, 4};
                if (i == 3) options.alibi = nn::alibi_slopes(2);
                INFO("L " << L << ", uniform " << (none == Masked::uniform) << ", options " << i);
                const Computed<T> fused = attend(qkv, options, NeedWeights::no),
                                  composed = attend(qkv, options, NeedWeights::yes);
                check_close(fused.value, composed.value, tolerance, "output");
                for (std::size_t k = 0; k < 3; ++k)
                    check_gradient(fused.grads[k], composed.grads[k], tolerance, "gradient " + std::to_string(k));
                if (options.dropout > 0) continue;
                const ConstArray<T> first = composed.value.sliced(0, 0, 1).sliced(2, 0, 1).contiguous();  // query 0
                Array<T> expected({1, 2, 1, 5}, T{0});
                if (none == Masked::uniform)
                    expected = mean(Tensor<T>(qkv[2].sliced(0, 0, 1)), {2}, true).value().clone();
                check_close(first, expected, tolerance, "query 0");
            }
    }
}

TEMPLATE_TEST_CASE("a query without a key: weights are what was asked for", "[nn]", float, double) {
    Generator random{1, 0};
    const auto qkv = random_qkv<T>({2, 2, 3, 4, 6, 5});
    AttentionOptions options{.mask = MaskArray({3, 4}, 1)};
    std::fill_n(options.mask.data() + 4, 4, std::uint8_t{0});
    for (const Masked none : {Masked::uniform, Masked::zero}) {
        options.masked = none;
        const Tensor<T> q(qkv[0]), k(qkv[1]), v(qkv[2]);
        const Tensor<T> weights = nn::scaled_dot_product_attention(q, k, v, options).weights;
        for (const T w : weights.value().sliced(2, 1, 2)) CHECK(w == (none == Masked::uniform ? T{1} / 4 : T{0}));
        nn::MultiHeadAttention<T> heads(random, 6, 6, 3, 0.0, 2);
        const Tensor<T> x(random_array<T>({2, 3, 6}, 4));
        CHECK_THROWS_WITH(heads.forward(x, x, x, MaskArray({3, 3}, 0)), contains("query 0 of batch 0"));
        heads.masked = none;
        for (const NeedWeights wanted : {NeedWeights::no, NeedWeights::yes})
            CHECK_NOTHROW(heads.forward(x, x, x, MaskArray({3, 3}, 0), wanted));
        nn::SelfAttention<T> one(random, 6, 6);
        one.masked = none;
        CHECK(one.forward(x, MaskArray({3, 3}, 0)).weights.value()(0, 0, 0) ==
              (none == Masked::uniform ? T{1} / 3 : T{0}));
    }
}

TEMPLATE_TEST_CASE("scores that overflow are no mask: that query is NaN", "[nn][unsanitized]", float, double) {
    const T huge = std::numeric_limits<T>::max();
    for (const std::size_t L : {3, 40, 600}) {
        auto qkv = random_qkv<T>({2, 2, L, L, 6, 5});
        std::fill_n(qkv[1].data(), qkv[1].size(), T{1});  // keys of ones
        const std::size_t row = (L - 1) * 6;              // the last query of the first head
        for (const double sign : {-1.0, 1.0}) {
            std::fill_n(qkv[0].data() + row, 6, static_cast<T>(sign) * huge);  // its scores: +-infinity
            for (std::size_t i = 0; i < 4; ++i) {
                AttentionOptions options{.causal = i % 2 == 1};
                if (i >= 2) {
                    options.mask = MaskArray({L}, 1);
                    options.mask.data()[L / 2] = 0;
                }
                for (const NeedWeights wanted : {NeedWeights::no, NeedWeights::yes}) {
                    INFO("L " << L << ", sign " << sign << ", options " << i << ", fused "
                              << (wanted == NeedWeights::no));
                    const Computed<T> r = attend(qkv, options, wanted);
                    for (std::size_t j = 0; j < 5; ++j) CHECK(std::isnan(r.value(0, 0, L - 1, j)));
                    for (std::size_t j = 0; j < 5; ++j) CHECK(std::isfinite(r.value(0, 0, L - 2, j)));
                    for (std::size_t j = 0; j < 5; ++j) CHECK(std::isfinite(r.value(0, 1, L - 1, j)));
                    CHECK(std::isnan(r.grads[0].contiguous().data()[row]));
                }
            }
        }
    }
}

TEST_CASE("scores that overflow are no mask: in bfloat16 too, and where all keys of a block are hidden", "[nn]") {
    const WithPrecision scope(Precision::bf16);
    auto qkv = random_qkv<float>({2, 2, 4, 600, 6, 5});
    std::fill_n(qkv[1].data(), qkv[1].size(), 1.0f);
    std::fill_n(qkv[0].data(), 6, -3e38f);  // query 0 of the first head
    AttentionOptions options{.mask = MaskArray({600}, 1)};
    std::fill_n(options.mask.data(), 512, std::uint8_t{0});
    const Computed<float> r = attend(qkv, options, NeedWeights::no);
    CHECK_ALL(std::isnan(r.value(0, 0, 0, 0)), std::isfinite(r.value(0, 0, 1, 0)));
    options.mask = MaskArray({600}, 0);
    CHECK_THROWS_WITH(attend(qkv, options, NeedWeights::no), contains("attention: query 0 of batch 0 "));
}
